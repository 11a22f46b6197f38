#!/bin/sh
# SPDX-License-Identifier: MIT
# --right: bins include their upper edge, of numbers in text and of every type of values, whichever
# options build the bins, against fractions (right_bins.py); plots, statistics, and tables that are merged.
. "${srcdir:-.}/tests/helpers/lib.sh"

watch_over 300
find_python || skip "python3 is not installed"

# right CASE "EDGE..." NUMBERS ARGUMENT...: as the oracle of the NUMBERS, a file, has it.
right()
{
    case_=$1 edges=$2 numbers=$3
    shift 3
    $python "$srcdir/tests/helpers/right_bins.py" $edges <"$numbers" >expected
    for cpu in $counters; do
        run_as env GPUHISTO_CPU="$cpu" "$GPUHISTO" $ENGINE -q --right "$@"
        counts "$case_, $cpu" expected
    done
}
case $ENGINE in
*--device=gpu*) counters=portable ;;
*) counters=$(kernels_here) ;;
esac

# Numbers at the edges, the doubles beside them, and some anywhere; more than a batch.
python3 - >numbers <<'END'
import math
import random
random.seed(1)
edges = [0.0, 1.0, 5.0, 10.0, 0.1, 0.2, 0.3, 0.30000000000000004, 2.5, 7.5, -1.0, 100.0, 1000.0, 5e-324]
numbers = [f(edge) for edge in edges for f in (
    lambda x: x, lambda x: math.nextafter(x, math.inf), lambda x: math.nextafter(x, -math.inf))]
numbers += [random.choice(edges) for _ in range(3000)] + [random.uniform(-2, 12) for _ in range(3000)]
print('x', 'inf', '-inf', '-0.0', *('%.17e' % number for number in numbers), sep='\n')
END
right "--edges" "0 1 5 10" numbers -n --edges=0,1,5,10 numbers
right "--edges of fractions" "-1 0 0.1 0.2 0.30000000000000004" numbers -n --edges=-1,0,.1,.2,.30000000000000004 numbers
right "the least double" "-5e-324 0 5e-324 1" numbers -n --edges=-5e-324,0,5e-324,1 numbers
right "--bins" "0 2.5 5 7.5 10" numbers -n --bins=4 --min=0 --max=10 numbers
right "--bins of fractions" "0 0.1 0.2 0.30000000000000004 0.4" numbers -n --bins=4 --min=0 --max=0.4 numbers
right "--log" "1 10 100 1000" numbers -n --log --min=1 --max=1000 numbers
many=$(python3 -c 'print(*range(0, 101))')
right "many edges" "$many" numbers -n --bins=100 --min=0 --max=100 numbers
sed 's/.*/a &/' numbers >fields
right "a field" "0 1 5 10" numbers -k 2 --edges=0,1,5,10 fields
right "a large double" "0 1.7976931348623157e+308" numbers -n --edges=0,1.7976931348623157e308 numbers

# Values: every number of 8 bits, and those around edges of the others.
for type in u8 i8 u16 i16be u24 u32 i32be u64 i64 f32 f64be; do
    $python - $type "$type.values" >"$type.numbers" <<'END'
import random
import struct
import sys
random.seed(2)
kind, size = sys.argv[1][0], int(sys.argv[1].rstrip('be')[1:])
order = 'big' if sys.argv[1].endswith('be') else 'little'
least = {'u': 0, 'i': -1 << size - 1, 'f': -1 << 24}[kind]
end = {'u': 1 << size, 'i': 1 << size - 1, 'f': 1 << 24}[kind]
numbers = [n for e in (0, 5, 10, 100, least, end - 1) for n in (e - 1, e, e + 1) if least <= n < end]
numbers += [random.randrange(least, end) for _ in range(2000)]
numbers += [random.randrange(max(least, -20), 120) for _ in range(3000)]
with open(sys.argv[2], 'wb') as file:
    for number in numbers:
        if kind == 'f':
            file.write(struct.pack('<>'[order == 'big'] + {32: 'f', 64: 'd'}[size], number))
        else:
            file.write(number.to_bytes(size // 8, order, signed=kind == 'i'))
print(*numbers)
END
    values=--values=$type
    right "$type, --edges" "0 5 10 100" $type.numbers $values --edges=0,5,10,100 $type.values
    right "$type, --bins" "0 5 10" $type.numbers $values --bins=2 --min=0 --max=10 $type.values
    right "$type, bins of one value" "0 1 2 3" $type.numbers $values --bins=3 --min=0 --max=3 $type.values
    right "$type, --log" "1 2 4 8 16" $type.numbers $values --log=2 --min=1 --max=16 $type.values
done
right "u64 to its end" "0 18446744073709551615" u64.numbers --values=u64 --bins=1 --min=0 --max=18446744073709551615 u64.values
right "i8 from its beginning" "-128 127" i8.numbers --values=i8 --edges=-128,127 i8.values

summary
