// SPDX-License-Identifier: MIT OR Apache-2.0
// `pop` on an empty array.
//
// expect: violated  empty array "pop": entries.pop()
// expect: violated  assertion: assert(entries.length != 2)
pragma solidity ^0.8.0;

contract Stack {
    uint[] entries;

    function push(uint value) external {
        entries.push(value);
    }

    function drop() external {
        entries.pop();
    }

    function check() external view {
        assert(entries.length != 2);
    }
}
