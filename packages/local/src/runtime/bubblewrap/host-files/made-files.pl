# Makes the files of an instance that Node.js cannot make: pipes, and copies of device nodes. Says when each kind is made, for
# made-files.ts. What follows it (install-directories.pl) makes directories, and has the same arguments. Arguments before "--" are
# the paths of pipes. It uses no module, because loading one takes as long as the start of Perl.
my ($here, $pipe, $device) = (-100, 0010622, 0020666);

sub node {
  my ($path, $mode, $number) = @_;
  die "$path: $!\n" if syscall($ENV{MKNODAT} + 0, $here, $path, $mode, $number) == -1;
}

umask 0;
while (@ARGV and (my $path = shift) ne '--') { node($path, $pipe, 0) }
syswrite STDOUT, "pipes\n";
if ($ENV{DEVICES}) {
  node("$ENV{DEVICES}/$_", $device, (stat "/dev/$_")[6] // die "/dev/$_: $!\n") for split ' ', $ENV{NODES};
}
syswrite STDOUT, "devices\n";
END { syswrite STDOUT, "all\n" if $? == 0 }
exit if $ARGV[0] eq '';
