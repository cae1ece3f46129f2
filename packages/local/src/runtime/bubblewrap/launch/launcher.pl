# Makes a machine's mounts, and then becomes the command in the arguments: one program instead of two shells, unshare,
# mount, install and setpriv, because the start of each program costs a millisecond or more. The variables are those of
# launch-command.ts. It uses no module, since loading one would cost as much.
#
# With SOCKET it serves: it forks for each connection, and the child becomes the command that is asked for there
# (program-launcher.ts). The child reads the request, so the process that all are forked from never knows anything of a
# program.
my %numbers = (
  x64   => {
    mount => 165, unshare => 272, setgroups => 116, setresuid => 117, setresgid => 119, prlimit => 302, close => 3,
    prctl => 157, dup3 => 292, memfd_create => 319, pivot_root => 155, umount2 => 166,
  },
  arm64 => {
    mount => 40, unshare => 97, setgroups => 159, setresuid => 147, setresgid => 149, prlimit => 261, close => 57,
    prctl => 167, dup3 => 24, memfd_create => 279, pivot_root => 41, umount2 => 39,
  },
);
my %flags = (ro => 1, nosuid => 2, nodev => 4, noexec => 8, bind => 4096, rbind => 4096 | 0x4000);
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

# The files that stay open while the command starts: a handle that goes out of scope closes its descriptor.
my @held;

sub taken {
  my ($connection, $size) = @_;
  my $data = '';
  while (length $data < $size) {
    sysread $connection, $data, $size - length $data, length $data or exit 125;
  }
  return $data;
}

sub written {
  my ($path) = @_;
  # Without a reader, the program was given up: do not wait for one. Programs expect that writing waits.
  my ($writeOnly, $nonBlocking, $setFlags) = (1, 2048, 4);
  sysopen my $pipe, $path, $writeOnly | $nonBlocking or exit 125;
  fcntl $pipe, $setFlags, $writeOnly or exit 125;
  return $pipe;
}

# Returns in a child for each request, with the command. Its descriptors from 3: the connection, the outputs, where
# bubblewrap reports, the system call filter, and bubblewrap's options.
sub requested {
  my ($path) = @_;
  my ($local, $stream, $dieWithParent, $kill, $closeOnExec, $duplicate) = (1, 1, 1, 9, 1, 0);
  call('prctl', $dieWithParent, $kill, 0, 0, 0);
  exit 125 if getppid() != $given{PARENT};
  my $umask = umask 0177;
  socket my $listener, $local, $stream, 0 or die "socket: $!\n";
  bind $listener, pack('Sa*', $local, $path) or die "$path: $!\n";
  listen $listener, 1024 or die "listen: $!\n";
  umask $umask;
  my $server = $$;
  # The guard looks for the directory in the arguments.
  $0 = "program-launcher $ARGV[0]";
  $SIG{CHLD} = 'IGNORE';
  syswrite STDOUT, "ready\n";
  while (1) {
    accept my $connection, $listener or die "accept: $!\n";
    next if fork // 1;
    $SIG{CHLD} = 'DEFAULT';
    close $listener;
    open STDOUT, '>&', \*STDERR or exit 125;
    my @fields = split /\0/, taken($connection, unpack 'N', taken($connection, 4)), -1;
    my ($variables, $arguments) = splice @fields, 0, 2;
    %given = ((map { /^MACHINE_([^=]*)=(.*)/s } splice @fields, 0, $variables), PARENT => $server);
    my @command = splice @fields, 0, $arguments;
    my ($name, $filter) = ('options', undef);
    my $memory = syscall $number->{memfd_create}, $name, $closeOnExec;
    open my $options, '+<&=', $memory or exit 125;
    syswrite $options, join '', map { "$_\0" } @fields;
    sysseek $options, 0, 0;
    sysopen $filter, $given{FILTER}, 0 or exit 125 if defined $given{FILTER};
    my $report = written($given{REPORT});
    @held = ($connection, written($given{STDOUT}), written($given{STDERR}), $report, $filter, $options);
    syswrite $report, "$$\n";
    my @high = map { defined $_ ? 0 + fcntl $_, $duplicate, 20 : undef } @held;
    for (grep { defined $high[$_] } 0 .. $#high) {
      call('dup3', $high[$_], 3 + $_, 0);
      call('close', $high[$_]);
    }
    return @command;
  }
}

call('close', $_ + 0) for split ' ', $given{CLOSED};
@ARGV = requested($given{SOCKET}) if defined $given{SOCKET};
# Exit if the server has died meanwhile, because nothing else would end the machine.
exit 125 if getppid() != $given{PARENT};
put('/proc/self/oom_score_adj', '500');
put($_, '0') for split /\n/, $given{GROUPS};
# Core files: with 1 byte, and only with that, no crash starts the host's program that collects them. Priorities: none above others.
my %limits = (4 => 1, 13 => 0, 14 => 0);
# Processes, open files, data.
%limits = (%limits, 6 => $given{PROCESSES}, 7 => $given{FILES}, 2 => $given{MEMORY_KB} * 1024) if defined $given{PROCESSES};
# Ignore errors: a limit of this process that is lower already cannot be raised, and stays.
syscall($number->{prlimit}, 0, $_ + 0, pack('Q2', $limits{$_}, $limits{$_}), 0) for keys %limits;

if (defined $given{PLACE}) {
  my $umask = umask 022;
  my ($uid, $gid) = ($> + 0, $) + 0);
  my $isRoot = $uid == 0;
  call('unshare', $newMounts | ($isRoot ? 0 : $newUsers));
  unless ($isRoot) {
    put('/proc/self/setgroups', 'deny');
    put('/proc/self/uid_map', "0 $uid 1");
    put('/proc/self/gid_map', "0 $gid 1");
    # Of the user's 128, which all machines and the user's own programs share.
    put('/proc/sys/user/max_inotify_instances', '32');
  }
  call('mount', 'none', '/', 0, $privateTree, 0);
  mounted($given{ROOT}, $given{ROOT}, 'none', 'bind') if defined $given{ROOT};
  mounted('tmpfs', $given{PLACE}, 'tmpfs', $given{SIZE});
  chdir $given{PLACE} or die "$given{PLACE}: $!\n";
  for (split ' ', $given{DIRECTORIES}) { mkdir $_ or die "$_: $!\n" }
  chown($given{OWNER}, $given{OWNER}, split ' ', $given{DIRECTORIES}) or die "chown: $!\n";
  mapIds($given{ARCHITECTURE}, split /\n/, $given{MAPPED}) if $given{MAPPED};
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
  # Leave the host's mounts: bubblewrap reads the list of all mounts for each one that it makes.
  if (defined $given{ROOT}) {
    mounted("/$_", "$given{ROOT}/$_", 'none', 'rbind') for 'proc', 'usr';
    chdir $given{ROOT} or die "$given{ROOT}: $!\n";
    my ($here, $detach) = ('.', 2);
    call('pivot_root', $here, $here);
    call('umount2', $here, $detach);
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
# Code can read the environment of bubblewrap, which is process 1 of a program: it must not tell the host's search path.
my ($command) = grep { -f && -x _ } map { "$_/$ARGV[0]" } split /:/, delete $ENV{PATH};
exec { $command // $ARGV[0] } @ARGV or die "$ARGV[0]: $!\n";
