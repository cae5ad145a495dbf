// SPDX-License-Identifier: MIT OR Apache-2.0
// A dynamic array that grows and shrinks: `take` checks the length, `last` and `drop` do not.
//
// expect: safe      assertion: assert(items[items.length - 1] == value)
// expect: safe      assertion: assert(items.length == before - 1)
// expect: safe      out of bounds: items[items.length - 1]
// expect: safe      out of bounds: items[i]
// expect: safe      empty array "pop": items.pop()
// expect: violated  out of bounds: items[position]
pragma solidity ^0.8.0;

contract Queue {
    uint[] items;

    function put(uint value) external {
        items.push(value);
        assert(items[items.length - 1] == value);
    }

    function take() external {
        require(items.length > 0);
        uint before = items.length;
        items.pop();
        assert(items.length == before - 1);
    }

    function sum() external view returns (uint total) {
        for (uint i = 0; i < items.length; ++i) {
            total += items[i];
        }
    }

    function look(uint position) external view returns (uint) {
        require(position <= items.length);
        return items[position];
    }
}
