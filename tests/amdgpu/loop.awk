# The main loop of LLVM's assembly for an AMD processor: of the loops without another in them the
# one with the most matrix instructions. One line: instructions (waits and hints are none), matrix
# instructions (or products of pairs), reads of LDS of 16 bytes, narrower ones, loads of global memory of 16 bytes,
# narrower ones, accesses of scratch memory, branches.
/^[.A-Za-z_0-9]+:/ { name = $1; sub(/:.*/, "", name); label[name] = count; next }
/^\t[a-z]/ && $1 !~ /^\./ {
    if ($1 ~ /^s_c?branch/ && $2 in label) {
        from[++loops] = label[$2]
        to[loops] = count
    }
    code[count++] = $1
}
function is_inner(i, k) {
    for (k = 1; k <= loops; k++)
        if (k != i && from[k] >= from[i] && to[k] <= to[i]) return 0
    return 1
}
END {
    best = -1
    for (i = 1; i <= loops; i++) {
        if (!is_inner(i)) continue
        all = matrix = wide = narrow = loads = few = scratch = branches = 0
        for (k = from[i]; k <= to[i]; k++) {
            op = code[k]
            if (op ~ /^s_(nop|delay_alu|clause|waitcnt|wait_)/) continue
            all++
            if (op ~ /^v_(mfma|wmma|dot2)/) matrix++
            if (op ~ /^ds_(read|load)_b128/) wide++
            else if (op ~ /^ds_(read|load)/) narrow++
            if (op ~ /^(buffer|global|flat)_load_(dwordx4|b128)/) loads++
            else if (op ~ /^(buffer|global|flat)_load/) few++
            if (op ~ /^scratch_|buffer_.*offset:.*lds/) scratch++
            if (op ~ /^s_c?branch/) branches++
        }
        if (matrix > best) {
            best = matrix
            line = all " " matrix " " wide " " narrow " " loads " " few " " scratch " " branches
        }
    }
    print line
}
