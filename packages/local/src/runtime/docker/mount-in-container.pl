# Mounts volumes and directories of the host in a container. They are opened here, and then put into the container's mount
# namespace, so nothing of them is mounted on the host, and they end with the container.
sub mountInContainer {
  my ($architecture, $pid, $variable, $owner, @mounts) = @_;
  my ($enter, $mountNamespace) = ($architecture eq 'arm64' ? 268 : 308, 0x20000);
  my $absent = "the container is no process of this machine, so nothing can be mounted in it; start the server where the Docker daemon runs\n";
  # Relative paths are of this process alone from here on, also if it ends and another one gets its pid.
  chdir "/proc/$pid" or die $absent;
  open my $environment, '<', 'environ' or die $absent;
  my $variables = join '', <$environment>;
  die $absent if index("\0$variables", "\0$variable\0") == -1;
  die "the container maps uids, so nothing can be mounted in it; use a Docker daemon without userns-remap\n"
    unless readlink 'ns/user' eq readlink '/proc/self/ns/user';
  open my $namespace, '<', 'ns/mnt' or die $absent;
  my @opened;
  while (my ($path, @source) = splice @mounts, 0, 7) { push @opened, [openMount($architecture, @source), $path] }
  # From here on all paths are the container's: load nothing.
  syscall($enter, fileno $namespace, $mountNamespace) == 0 or die "the container's mounts cannot be changed: $!\n";
  putMount($_->[0], makeDirectories($owner, '', $_->[1])) for @opened;
}
