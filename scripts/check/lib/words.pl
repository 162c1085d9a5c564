# Finds the words of words.txt in blocks of prose (prose.pl).
#   perl words.pl WORDS ALLOW <BLOCKS
# Prints `FILE:LINE: "what was found": INSTEAD`. Each line of ALLOW is FILE, TEXT and a reason,
# separated by tabs. A block of that file that contains the text is left out. An exception that no
# block needs is a violation.
use strict;
use warnings;
use utf8;
use open qw(:std :encoding(UTF-8));

my ($words, $allow) = @ARGV;
my (@rules, @allowed);
open my $list, '<', $words or die "words: cannot read $words\n";
while (<$list>) {
    chomp;
    next if /^\s*(#|$)/;
    my ($where, $pattern, $instead) = split /\t+/;
    defined $instead && $where =~ /^(begin|any)$/ or die "$words:$.: expected WHERE PATTERN INSTEAD\n";
    push @rules, { begin => $where eq 'begin', pattern => $where eq 'begin' ? qr/^$pattern/ : qr/$pattern/i,
        instead => $instead };
}
if (open my $exceptions, '<', $allow) {
    while (<$exceptions>) {
        chomp;
        next if /^\s*(#|$)/;
        my ($file, $text, $reason) = split /\t+/;
        defined $reason or die "$allow:$.: expected FILE TEXT REASON, separated by tabs\n";
        push @allowed, { file => $file, text => $text, used => 0, line => $. };
    }
}

sub is_allowed {
    my ($file, $text) = @_;
    my @found = grep { $_->{file} eq $file && index($text, $_->{text}) >= 0 } @allowed;
    $_->{used} = 1 for @found;
    return @found > 0;
}

while (<STDIN>) {
    chomp;
    my ($file, $line, $kind, $text) = split /\t/, $_, 4;
    next if $kind eq 'text' && $text !~ /\w+ \w+ \w+/;
    for my $sentence (split /(?<=[.!?:])\s+(?=[\[*]*[A-Z])|(?<=[.!?])["')]\s+/, $text) {
        next if $sentence =~ /\?["')*]*$/;
        (my $bare = $sentence) =~ s/^[\s*_"'(|-]+//;
        for my $rule (@rules) {
            next if $rule->{begin} && $kind =~ /^(text|row)$/;
            next unless ($rule->{begin} ? $bare : $sentence) =~ $rule->{pattern};
            my $found = $&;
            $found =~ s/\s+$//;
            print "$file:$line: \"$found\": $rule->{instead}\n" unless is_allowed($file, $text);
        }
    }
}
for (@allowed) { print "$allow:$_->{line}: an exception that nothing needs\n" unless $_->{used} }
