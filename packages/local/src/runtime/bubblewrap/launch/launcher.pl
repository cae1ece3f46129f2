# Makes a machine's mounts, and then becomes the command in the arguments: one program instead of two shells, unshare,
# mount, install and setpriv, because the start of each program costs a millisecond or more. The variables are those of
# launch-command.ts. It uses no module, since loading one would cost as much.
my %numbers = (
  x64   => { mount => 165, unshare => 272, setgroups => 116, setresuid => 117, setresgid => 119, prlimit => 302, close => 3 },
  arm64 => { mount => 40, unshare => 97, setgroups => 159, setresuid => 147, setresgid => 149, prlimit => 261, close => 57 },
);
my %flags = (ro => 1, nosuid => 2, nodev => 4, noexec => 8);
my ($newMounts, $newUsers, $newProcesses) = (0x20000, 0x10000000, 0x20000000);
my $privateTree = 0x4000 | 0x40000;

my %given;
$given{$_} = delete $ENV{"MACHINE_$_"} for map { /^MACHINE_(.*)/s } keys %ENV;
my $number = $numbers{$given{ARCHITECTURE}} or die "no system calls are known for this processor\n";

sub call {
  my ($name, @values) = @_;
  die "$name: $!\n" if syscall($number->{$name}, @values) == -1;
}

sub put {
  my ($path, $text) = @_;
  open my $file, '>', $path or die "$path: $!\n";
  syswrite $file, $text or die "$path: $!\n";
}

sub mounted {
  my ($source, $target, $type, $options) = @_;
  my ($bits, @data) = (0);
  for (split /(?<!\\),/, $options) {
    if ($flags{$_}) { $bits |= $flags{$_} } else { push @data, $_ }
  }
  call('mount', $source, $target, $type, $bits, join(',', @data));
}

# Exit if the server has died meanwhile, because nothing else would end the machine.
exit 125 if getppid() != $given{PARENT};
call('close', $_ + 0) for split ' ', $given{CLOSED};
put('/proc/self/oom_score_adj', '500');
put($_, '0') for split /\n/, $given{GROUPS};
if (defined $given{PROCESSES}) {
  # Core files, processes, open files, data.
  my %limits = (4 => 0, 6 => $given{PROCESSES}, 7 => $given{FILES}, 2 => $given{MEMORY_KB} * 1024);
  # Ignore errors: a limit of this process that is lower already cannot be raised, and stays.
  syscall($number->{prlimit}, 0, $_ + 0, pack('Q2', $limits{$_}, $limits{$_}), 0) for keys %limits;
}

if (defined $given{PLACE}) {
  my $umask = umask 022;
  my ($uid, $gid) = ($> + 0, $) + 0);
  my $isRoot = $uid == 0;
  call('unshare', $newMounts | ($isRoot ? 0 : $newUsers));
  unless ($isRoot) {
    put('/proc/self/setgroups', 'deny');
    put('/proc/self/uid_map', "0 $uid 1");
    put('/proc/self/gid_map', "0 $gid 1");
  }
  call('mount', 'none', '/', 0, $privateTree, 0);
  mounted('tmpfs', $given{PLACE}, 'tmpfs', $given{SIZE});
  chdir $given{PLACE} or die "$given{PLACE}: $!\n";
  for (split ' ', $given{DIRECTORIES}) { mkdir $_ or die "$_: $!\n" }
  chown($given{OWNER}, $given{OWNER}, split ' ', $given{DIRECTORIES}) or die "chown: $!\n";
  for (split /\n/, $given{MOUNTS}) {
    mounted(map { s/\\([0-7]{3})/chr oct $1/ger } split / /);
  }
  # An ordinary user may mount only the /proc of a new process namespace. The mount outlives the namespace.
  unless ($isRoot) {
    my $outside = fork // die "fork: $!\n";
    unless ($outside) {
      call('unshare', $newProcesses);
      my $inside = fork // die "fork: $!\n";
      unless ($inside) {
        mounted('proc', 'proc', 'proc', 'ro,nosuid,nodev,noexec');
        exit 0;
      }
      waitpid $inside, 0;
      exit($? ? 1 : 0);
    }
    waitpid $outside, 0;
    die "/proc was not mounted\n" if $?;
  }
  chdir '/';
  umask $umask;
}

if (defined $given{USER}) {
  my $user = $given{USER} + 0;
  call('setgroups', 0, 0);
  call('setresgid', $user, $user, $user);
  call('setresuid', $user, $user, $user);
}
exec { $ARGV[0] } @ARGV or die "$ARGV[0]: $!\n";
