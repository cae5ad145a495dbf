// SPDX-License-Identifier: MIT OR Apache-2.0
// Overflow and underflow, with and without a check in front.
//
// targets: assert,overflow,underflow
// expect: violated  overflow: a + b
// expect: violated  underflow: a - b
// expect: safe      underflow: x - y
// expect: safe      overflow: small + 1
// expect: violated  assertion: assert(wrapped > a)
pragma solidity ^0.8.0;

contract Arithmetic {
    function add(uint a, uint b) external pure returns (uint) {
        return a + b;
    }

    function sub(uint a, uint b) external pure returns (uint) {
        return a - b;
    }

    function checked(uint x, uint y) external pure returns (uint) {
        require(x >= y);
        return x - y;
    }

    function next(uint8 small) external pure returns (uint8) {
        require(small < 255);
        return small + 1;
    }

    function wrap(uint a) external pure {
        uint wrapped;
        unchecked {
            wrapped = a + 1;
        }
        assert(wrapped > a);
    }
}
