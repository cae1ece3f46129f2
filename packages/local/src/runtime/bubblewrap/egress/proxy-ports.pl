# Makes the listening sockets of the egress proxy's ports inside the network namespaces of programs, and sends them to the
# control plane, which accepts the connections itself.
#
# A socket stays in the namespace it was made in, so one process has to run there. Both talk over a channel of Node.js
# (lib/internal/child_process.js): one JSON text per line, a socket attached to it. The channel does not exist in any
# sandbox. Like launcher.pl it uses no module, because loading one takes as long as the start of Perl.
my %numbers = (x64 => { setns => 308, sendmsg => 46 }, arm64 => { setns => 268, sendmsg => 211 });
my ($newUsers, $newNetwork, $usersOf) = (0x10000000, 0x40000000, 0xB701);
my ($internet, $stream, $ip, $freeBind) = (2, 1, 0, 15);
my ($socketLevel, $sendBuffer, $receiveBuffer, $rights) = (1, 7, 8, 1);
# Most bytes that the kernel holds for each direction of a connection, doubled by the kernel. Its default grows to megabytes,
# and a sandbox may have many connections.
my $buffer = 128 * 1024;

my $number = $numbers{delete $ENV{PROXY_ARCHITECTURE}} or die "no system calls are known for this processor\n";
open my $channel, '+<&=', $ENV{NODE_CHANNEL_FD} or die "the channel: $!\n";
my ($setFlags, $readWrite) = (4, 2);
fcntl $channel, $setFlags, $readWrite or die "the channel: $!\n";
open my $own, '<', '/proc/self/ns/net' or die "ns/net: $!\n";
# The guard looks for the directory in the arguments.
$0 = "proxy-ports $ARGV[0]";
$SIG{CHLD} = 'IGNORE';
my $gone = "it has ended\n";
my ($noEntry, $noProcess) = (2, 3);

sub enter {
  my ($namespace, $kind) = @_;
  die "$!\n" if syscall($number->{setns}, fileno $namespace, $kind) == -1;
}

# The network namespace of a request's process, unless the program has ended and another process has its pid now.
sub namespaceOf {
  my ($request) = @_;
  open my $namespace, '<', "/proc/$request->{pid}/ns/net"
    or die $! == $noEntry || $! == $noProcess ? $gone : "$!\n";
  die $gone if (stat $namespace)[1] != $request->{network};
  return $namespace;
}

sub answer {
  my ($text, $socket) = @_;
  $text .= "\n";
  my $control = $socket ? pack 'QiiiI', 20, $socketLevel, $rights, fileno $socket, 0 : '';
  my $vector = pack 'PQ', $text, length $text;
  my $message = pack 'QQPQPQQ', 0, 0, $vector, 1, $control, length $control, 0;
  die "$!\n" if syscall($number->{sendmsg}, fileno $channel, $message, 0) == -1;
}

sub handOver {
  my ($request) = @_;
  for my $port (@{$request->{ports}}) {
    socket my $made, $internet, $stream, 0 or die "$!\n";
    # bubblewrap may not have brought the loopback interface up yet.
    setsockopt $made, $ip, $freeBind, 1 or die "$!\n";
    for ($sendBuffer, $receiveBuffer) { setsockopt $made, $socketLevel, $_, $buffer or die "$!\n" }
    bind $made, pack 'Sna4x8', $internet, $port, "\x7f\0\0\1" or die "$!\n";
    answer(qq({"cmd":"NODE_HANDLE","type":"net.Native","msg":{"id":$request->{id}}}), $made);
  }
}

sub asRoot {
  my ($request) = @_;
  enter(namespaceOf($request), $newNetwork);
  my $isDone = eval { handOver($request); 1 };
  my $problem = $@;
  enter($own, $newNetwork);
  die $problem unless $isDone;
}

# An ordinary user's process may enter the namespaces of the user's programs, but cannot leave them: fork.
sub asUser {
  my ($request) = @_;
  return if fork // die "$!\n";
  reporting(\&inChild, $request);
  exit;
}

sub inChild {
  my ($request) = @_;
  my $namespace = namespaceOf($request);
  my $users = ioctl $namespace, $usersOf, 0 or die "$!\n";
  open my $owner, '<&=', $users or die "$!\n";
  enter($owner, $newUsers);
  enter($namespace, $newNetwork);
  handOver($request);
}

sub reporting {
  my ($action, $request) = @_;
  return if eval { $action->($request); 1 };
  my $isGone = $@ eq $gone ? 'true' : 'false';
  my $problem = $@ =~ s/[^ -~]|["\\]//gr;
  answer(qq({"id":$request->{id},"problem":"$problem","gone":$isGone}));
}

my $held = '';
while (sysread $channel, $held, 65536, length $held) {
  while ($held =~ s/^(.*)\n//) {
    my $line = $1;
    # The control plane had no free descriptor. End: it notices that, and starts another helper.
    exit if $line =~ /"NODE_HANDLE_NACK"/;
    my %request = $line =~ /"(id|pid|network)":(\d+)/g;
    next unless defined $request{pid};
    $request{ports} = [$line =~ /"ports":\[([\d,]*)\]/ ? split /,/, $1 : ()];
    reporting($> == 0 ? \&asRoot : \&asUser, \%request);
  }
}
