print x
print 'a', b
exec 'a'
whlie a:
    b
esle:
    b
retrun a
func f(a):
    b
a b
(a) b
a, b c
