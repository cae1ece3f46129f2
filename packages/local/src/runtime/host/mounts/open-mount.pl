# Opens a volume, or a directory of the host, as a mount that is nowhere yet, without devices and set-uid programs. $uids and
# $gids map the owners of its files to those of a machine; without maps the owners stay.
sub openMount {
  my ($architecture, $device, $source, $identity, $uids, $gids, $isReadOnly) = @_;
  my ($openTree, $setAttributes) = (428, 442);
  my ($clone, $closeOnExec, $recursive, $emptyPath, $here) = (1, 02000000, 0x8000, 0x1000, -100);
  my ($readOnly, $noSetUid, $noDevices, $idMap, $private, $nothing) = (1, 2, 4, 0x100000, 0x40000, '');
  # An ordinary user may copy a mount only with all mounts in it. Mounts whose uids are mapped are copied alone.
  my $depth = $uids eq '' ? $recursive : 0;
  my $mount = $device ne '' ? openVolume($device) : syscall($openTree, $here, $source, $clone | $closeOnExec | $depth);
  die "$source cannot be mounted: $!\n" if $mount == -1;
  my ($number, $inode) = stat "/proc/self/fd/$mount";
  die "$source was replaced by another directory\n" unless $identity eq '' or $identity eq "$number:$inode";
  my $users = $uids eq '' ? undef : mappedUsers($architecture, map { tr/,/\n/r . "\n" } $uids, $gids);
  my $set = $noSetUid | $noDevices | ($isReadOnly ? $readOnly : 0) | ($users ? $idMap : 0);
  # Private: what is mounted in the directory later is not for the machine.
  my $attributes = pack 'Q4', $set, 0, $private, $users ? fileno $users : 0;
  syscall($setAttributes, $mount, $nothing, $emptyPath | $depth, $attributes, 32) == 0
    or die "uids of $source cannot be mapped: $!; they can on ext4, XFS and Btrfs, and from Linux 6.3 on tmpfs\n";
  return $mount;
}

# Opens the file system of a volume.
sub openVolume {
  my ($device) = @_;
  my ($openSystem, $configure, $mountSystem) = (430, 431, 432);
  my ($setFlag, $setText, $create, $closeOnExec, $noSetUid, $noDevices) = (0, 1, 6, 1, 2, 4);
  my ($type, $source) = ('ext4', 'source');
  my $system = syscall($openSystem, $type, $closeOnExec);
  die "the volume cannot be mounted: $!\n" if $system == -1;
  my $isSet = syscall($configure, $system, $setText, $source, $device, 0) == 0;
  for my $name ('discard', 'noinit_itable') {
    my $option = $name;
    $isSet &&= syscall($configure, $system, $setFlag, $option, 0, 0) == 0;
  }
  $isSet &&= syscall($configure, $system, $create, 0, 0, 0) == 0;
  my $mount = $isSet ? syscall($mountSystem, $system, $closeOnExec, $noSetUid | $noDevices) : -1;
  die "the volume cannot be mounted: $!\n" if $mount == -1;
  # Code should see an empty volume. e2fsck makes this directory again if it needs it.
  rmdir "/proc/self/fd/$mount/lost+found";
  return $mount;
}

# Mounts what openMount has opened.
sub putMount {
  my ($mount, $place) = @_;
  my ($moveMount, $here, $emptySource, $nothing) = (429, -100, 4, '');
  syscall($moveMount, $mount, $nothing, $here, $place, $emptySource) == 0 or die "move_mount: $!\n";
}

# Makes the directories of a path below a tree. Files of an earlier machine may be there: follows no link that it made.
sub makeDirectories {
  my ($owner, $tree, $path) = @_;
  for my $name (split m{/}, $path) {
    $tree .= "/$name";
    mkdir $tree, 0755 and chown $owner, $owner, $tree;
    die "nothing can be mounted at $path, where there is a file or a link\n" if -l $tree or not -d $tree;
  }
  return $tree;
}
