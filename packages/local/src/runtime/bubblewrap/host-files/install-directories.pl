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
unless (@directories && $state eq stateOf('.', @directories)) {
  my $started = time;
  open my $list, '-|', '/bin/sh', '-c', $script or die "sh: $!\n";
  @directories = split /\0/, contentOf($list);
  # Times are whole seconds: what changed in this one or the last may change again with the same time.
  keep() if $kept ne '' and not grep { ((lstat)[10] // $started) > $started - 2 } '.', @directories;
}
# The guard removes them by this list (instance-guard.ts).
put("$target.list", @directories);
umask 0;
chdir $target or die "$target: $!\n";
mkdir $_ for @directories;

# Errors are ignored: the next start lists them again.
sub keep {
  my $draft = "$kept.$$";
  put($draft, stateOf('.', @directories), @directories) and rename $draft, $kept or unlink $draft;
}

sub put {
  my ($path, @fields) = @_;
  open my $file, '>', $path or return;
  print $file join "\0", @fields;
  return close $file;
}
