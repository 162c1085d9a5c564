# The prose of files, one block a line: FILE LINE KIND TEXT, separated by tabs. The kinds are
# `comment` (a block of lines of comments), `text` (a string literal of C) and `page` (a paragraph,
# an item of a list, or a row of a table). Code within pages and between backquotes is left out.
#   perl prose.pl <LIST   (names of files, one a line)
use strict;
use warnings;

my ($file, @block, $first, $kind);

sub flush_block {
    my $text = join ' ', @block;
    $text =~ s/\s+/ /g;
    $text =~ s/^ | $//g;
    print "$file\t$first\t$kind\t$text\n" if $text ne '';
    @block = ();
}
sub add {
    my ($line, $new_kind, $text) = @_;
    if (!@block) { ($first, $kind) = ($line, $new_kind) }
    push @block, $text;
}
sub page {
    my $fenced = 0;
    while (my $line = <FILE>) {
        chomp $line;
        if ($line =~ /^\s*(```|~~~)/) { flush_block(); $fenced = !$fenced; next }
        next if $fenced;
        $line =~ s/`[^`]*`/`code`/g;
        if ($line =~ /^\s*$/ || $line =~ /^    /) { flush_block(); next }
        if ($line =~ /^\s*(#+ |\||<)/) { flush_block(); next if $line !~ /^\s*\|/; add($., 'row', $line); flush_block(); next }
        flush_block() if $line =~ /^\s*([-*+]|\d+\.) /;
        $line =~ s/^\s*([-*+]|\d+\.) //;
        add($., 'page', $line);
    }
    flush_block();
}
sub c_source {
    my $in_block = 0;
    while (my $line = <FILE>) {
        chomp $line;
        my $rest = $line;
        if ($in_block) {
            $in_block = 0 if $rest =~ s{\*/.*}{};
            add($., 'comment', $rest =~ s/^\s*\*?//r);
            next;
        }
        my $comment = '';
        my $code = '';
        my $text_found = '';
        while ($rest ne '') {
            if ($rest =~ s/^"((?:[^"\\]|\\.)*)"//) { $text_found .= $1; $code .= '""' }
            elsif ($rest =~ s/^'(?:[^'\\]|\\.)*'//) { $code .= "''" }
            elsif ($rest =~ s{^//\s?(.*)$}{}) { $comment = $1; last if $rest eq '' }
            elsif ($rest =~ s{^/\*(.*?)\*/}{}) { $comment .= $1 }
            elsif ($rest =~ s{^/\*(.*)$}{}) { $comment .= $1; $in_block = 1 }
            elsif ($rest =~ s{^[^"'/]+}{}) { $code .= $& }
            else { $rest =~ s/^.//; $code .= $& }
        }
        if ($text_found ne '') {
            if ($code =~ /^\s*#\s*include/) { $text_found = '' }
        }
        if ($comment ne '' && $code =~ /^\s*$/) { flush_block() if @block && $kind ne 'comment';
            if ($comment =~ /^ {4,}|^\s*$|^-{3}/) { flush_block() } else { add($., 'comment', $comment) } next }
        flush_block() if @block && ($kind eq 'comment' || $text_found eq '');
        if ($comment ne '') { print "$file\t$.\tcomment\t$comment\n" }
        if ($text_found ne '' ) { add($., 'text', $text_found) ; flush_block() if $code !~ /^\s*""\s*$/ && $code !~ /[^,;)]\s*$/ ; }
    }
    flush_block();
}
sub script {
    while (my $line = <FILE>) {
        chomp $line;
        if ($line =~ /^\s*#\s?(.*)/ && $. > 1) { $1 =~ /^ {2,}|^\s*$/ ? flush_block() : add($., 'comment', $1) }
        else { flush_block() }
    }
    flush_block();
}
while (my $name = <STDIN>) {
    chomp($file = $name);
    open FILE, '<', $file or next;
    if ($file =~ /\.md$/) { page() }
    elsif ($file =~ /\.(c|h|cpp|def|inc)$/) { c_source() }
    else { script() }
    close FILE;
}
