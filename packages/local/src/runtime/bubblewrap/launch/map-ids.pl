# Mounts directories so that their files seem to belong to a machine's range of uids: uid 0 of a file is the range's
# first. What the machine writes through these mounts is stored with the uids that the machine sees.
sub mapIds {
  my ($architecture, $first, $count, @places) = @_;
  # Overlays make files as root of the host before they give them to somebody, so root of the host needs a uid too.
  my $map = "0 $first $count\n$count 0 1\n";
  my $users = mappedUsers($architecture, $map, $map);
  while (my ($source, $target) = splice @places, 0, 2) { mountMapped($users, $source, $target) }
}

# Opens a new user namespace with these maps.
sub mappedUsers {
  my ($architecture, $uids, $gids) = @_;
  my %maps = (uid_map => $uids, gid_map => $gids);
  my ($unshare, $newUsers) = ($architecture eq 'arm64' ? 97 : 272, 0x10000000);
  pipe my $isReady, my $ready or die "pipe: $!\n";
  pipe my $isDone, my $done or die "pipe: $!\n";
  my $owner = fork // die "fork: $!\n";
  unless ($owner) {
    close $done;
    syscall($unshare, $newUsers) == 0 and syswrite $ready, '.';
    close $ready;
    sysread $isDone, my $end, 1;
    exit;
  }
  close $ready;
  sysread($isReady, my $byte, 1) or die "unshare: $!\n";
  for my $name (keys %maps) {
    open my $map, '>', "/proc/$owner/$name" or die "$name: $!\n";
    syswrite $map, $maps{$name} or die "$name: $!\n";
  }
  open my $users, '<', "/proc/$owner/ns/user" or die "ns/user: $!\n";
  close $done;
  waitpid $owner, 0;
  return $users;
}

sub mountMapped {
  my ($users, $source, $target) = @_;
  my ($openTree, $moveMount, $setAttributes) = (428, 429, 442);
  my ($clone, $closeOnExec, $emptyPath, $emptySource, $idMap, $here) = (1, 02000000, 0x1000, 4, 0x100000, -100);
  my $nothing = '';
  my $tree = syscall($openTree, $here, $source, $clone | $closeOnExec);
  die "open_tree: $!\n" if $tree == -1;
  my $attributes = pack 'Q4', $idMap, 0, 0, fileno $users;
  syscall($setAttributes, $tree, $nothing, $emptyPath, $attributes, 32) == 0 or die "mount_setattr: $!\n";
  syscall($moveMount, $tree, $nothing, $here, $target, $emptySource) == 0 or die "move_mount: $!\n";
}
