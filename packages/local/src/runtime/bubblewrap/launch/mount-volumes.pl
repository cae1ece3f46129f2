# Mounts volumes and directories of the host, and makes the directories on which bubblewrap binds them.
sub mountVolumes {
  my ($architecture, $owner, @mounts) = @_;
  my ($mount, $openTree, $moveMount, $setAttributes) = ($architecture eq 'arm64' ? 40 : 165, 428, 429, 442);
  my ($clone, $closeOnExec, $recursive, $emptyPath, $emptySource, $here) = (1, 02000000, 0x8000, 0x1000, 4, -100);
  my ($noSetUid, $noDevices, $idMap, $nothing) = (2, 4, 0x100000, '');
  my ($type, $options) = ('ext4', 'discard,noinit_itable');
  while (my ($device, $source, $identity, $uids, $gids, $place, $tree, $path) = splice @mounts, 0, 8) {
    if ($device ne '') {
      $source = "$place.all";
      mkdir $source or die "$source: $!\n";
      syscall($mount, $device, $source, $type, $noSetUid | $noDevices, $options) == 0
        or die "the volume for $path: $!\n";
      # Code should see an empty volume. e2fsck makes this directory again if it needs it.
      rmdir "$source/lost+found";
    }
    # An ordinary user may copy a mount only with all mounts in it. Mounts whose uids are mapped are copied alone.
    my $depth = $uids eq '' ? $recursive : 0;
    my $copy = syscall($openTree, $here, $source, $clone | $closeOnExec | $depth);
    die "$source cannot be mounted: $!\n" if $copy == -1;
    my ($number, $inode) = stat "/proc/self/fd/$copy";
    die "$source was replaced by another directory\n" unless $identity eq '' or $identity eq "$number:$inode";
    my $users = $uids eq '' ? undef : mappedUsers($architecture, "$uids\n", "$gids\n");
    my $attributes = pack 'Q4', $noSetUid | $noDevices | ($users ? $idMap : 0), 0, 0, $users ? fileno $users : 0;
    syscall($setAttributes, $copy, $nothing, $emptyPath | $depth, $attributes, 32) == 0
      or die "uids of $source cannot be mapped: $!\n";
    mkdir $place or die "$place: $!\n";
    syscall($moveMount, $copy, $nothing, $here, $place, $emptySource) == 0 or die "move_mount: $!\n";
    # Files of an earlier machine may be there: follow no link that it made.
    for my $name (split m{/}, $path) {
      $tree .= "/$name";
      mkdir $tree, 0755 and chown $owner, $owner, $tree;
      die "nothing can be mounted at $path, where there is a file or a link\n" if -l $tree or not -d $tree;
    }
  }
}
