// SPDX-License-Identifier: MIT OR Apache-2.0
// Loops with invariants: a sum by steps, and a search.
//
// open:   safe      assertion: assert(total == 3 * n)
// open:   safe      assertion: assert(low <= high)
// expect: safe      division by zero: (low + high) / 2
// expect: violated  assertion: assert(i != 3)
pragma solidity ^0.8.0;

contract Loops {
    function triple(uint n) external pure returns (uint total) {
        require(n < 1000000);
        uint i = 0;
        while (i < n) {
            total += 3;
            ++i;
        }
        assert(total == 3 * n);
    }

    function search(uint target, uint high) external pure returns (uint low) {
        require(high < 1000000);
        while (low < high) {
            uint middle = (low + high) / 2;
            if (middle < target) {
                low = middle + 1;
            } else {
                high = middle;
            }
        }
        assert(low <= high);
    }

    function count(uint n) external pure {
        uint i = 0;
        for (; i < n; ++i) {}
        assert(i != 3);
    }
}
