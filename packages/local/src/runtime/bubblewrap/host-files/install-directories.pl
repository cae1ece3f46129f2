# Makes the directories of the current directory that programs install to, in another directory. Arguments: that directory, a
# shell script that lists them, and a file for the list.
#
# To list them takes longer than to make them. So the list is kept in the file, with the device, inode and time of the last
# change of each directory: a directory that is made or removed changes those of the one that it is in. It uses no module,
# because loading one takes as long as the start of Perl.
my ($target, $script, $kept) = @ARGV;
umask 077;

sub contentOf {
  my ($file) = @_;
  local $/;
  return <$file> // '';
}

sub stateOf { join ' ', map { (lstat)[0, 1, 10] } @_ }

my ($state, @directories) = ('');
if ($kept ne '' and open my $file, '<', $kept) { ($state, @directories) = split /\0/, contentOf($file) }
my $isRight = @directories && $state eq stateOf('.', @directories);
my $mayKeep = $isRight;
unless ($isRight) {
  my $started = time;
  @directories = listed('.', $script);
  $state = stateOf('.', @directories);
  # Times are whole seconds: what changed in this one or the last may change again with the same time.
  $mayKeep = $kept ne '' && !grep { ((lstat)[10] // $started) > $started - 2 } '.', @directories;
}
keep() if $mayKeep and not $isRight;
# The guard removes them by this list (instance-guard.ts).
put("$target.list", @directories);
make();

sub listed {
  my ($directory, $script) = @_;
  open my $list, '-|', '/bin/sh', '-c', 'cd -- "$1" && eval "$2"', 'list', $directory, $script or die "sh: $!\n";
  return split /\0/, contentOf($list);
}

sub make {
  umask 0;
  chdir $target or die "$target: $!\n";
  mkdir $_ for @directories;
  umask 077;
}

# Errors are ignored: the next start lists them again.
sub keep {
  my $draft = "$kept.$$";
  put($draft, $state, @directories) and rename $draft, $kept or unlink $draft;
}

sub put {
  my ($path, @fields) = @_;
  open my $file, '>', $path or return;
  print $file join "\0", @fields;
  return close $file;
}
