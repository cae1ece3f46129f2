# Mounts volumes and directories of the host, and makes the directories on which bubblewrap binds them.
sub mountVolumes {
  my ($architecture, $owner, $own, $overlay, @mounts) = @_;
  while (my ($place, $tree, $path, $copy, @source) = splice @mounts, 0, 10) {
    mkdir $place or die "$place: $!\n";
    my $source = openMount($architecture, @source);
    if ($copy eq '') { putMount($source, $place) }
    else { mountCopy($source, $place, "${own}copies/$copy", "${own}work/copy-$copy", $overlay) }
    makeDirectories($owner, $tree, $path);
  }
}

# Mounts a directory of the host below one of the machine's own, to which the machine writes. A merged directory has the owner and the
# mode of the upper one, which an earlier machine of the sandbox may have made.
sub mountCopy {
  my ($source, $place, $upper, $work, $overlay) = @_;
  my $lower = "$place-lower";
  mkdir $lower or die "$lower: $!\n";
  putMount($source, $lower);
  my (undef, undef, $mode, undef, $user, $group) = stat $lower or die "$lower: $!\n";
  if (mkdir $upper) {
    chmod $mode & 0777 | 0700, $upper;
    # Fails for an ordinary user with a group of others, whose own group it keeps.
    chown $user, $group, $upper;
  }
  mkdir $work or die "$work: $!\n";
  my $options = "nodev,nosuid,$overlay,lowerdir=$lower,upperdir=$upper,workdir=$work";
  system('mount', '-t', 'overlay', '-o', $options, 'overlay', $place) == 0 or die "a copy of the directory cannot be mounted\n";
}
