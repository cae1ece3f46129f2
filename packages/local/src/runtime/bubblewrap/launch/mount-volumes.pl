# Mounts volumes, and makes the directories on which bubblewrap binds them. Uid 0 of a volume's files is the machine's code.
# With a range of uids, the others follow.
sub mountVolumes {
  my ($architecture, $owner, $count, @volumes) = @_;
  my ($mount, $noSetUid, $noDevices) = ($architecture eq 'arm64' ? 40 : 165, 2, 4);
  my ($type, $options) = ('ext4', 'discard,noinit_itable');
  my $users = mappedUsers($architecture, "0 $owner $count\n");
  while (my ($device, $place, $tree, $path) = splice @volumes, 0, 4) {
    mkdir $_ or die "$_: $!\n" for "$place.all", $place;
    syscall($mount, $device, "$place.all", $type, $noSetUid | $noDevices, $options) == 0
      or die "the volume for $path: $!\n";
    # The repair program of the file system makes it anew when it needs it.
    rmdir "$place.all/lost+found";
    mountMapped($users, "$place.all", $place);
    # Files of an earlier machine may be there: follow no link that it made.
    for my $name (split m{/}, $path) {
      $tree .= "/$name";
      mkdir $tree, 0755 and chown $owner, $owner, $tree;
      die "nothing can be mounted at $path, where there is a file or a link\n" if -l $tree or not -d $tree;
    }
  }
}
