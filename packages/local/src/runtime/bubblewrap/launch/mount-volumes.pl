# Mounts volumes and directories of the host, and makes the directories on which bubblewrap binds them.
sub mountVolumes {
  my ($architecture, $owner, @mounts) = @_;
  while (my ($place, $tree, $path, @source) = splice @mounts, 0, 9) {
    mkdir $place or die "$place: $!\n";
    putMount(openMount($architecture, @source), $place);
    makeDirectories($owner, $tree, $path);
  }
}
