// SPDX-License-Identifier: MIT OR Apache-2.0
// Vesting over a duration: never more than the grant is released, and time is not turned back.
//
// open:   safe      assertion: assert(released <= grant)
// open:   safe      assertion: assert(released >= before)
// open:   safe      assertion: assert(duration > 0)
// open:   safe      division by zero: grant * elapsed / duration
pragma solidity ^0.8.0;

contract Vesting {
    uint constant grant = 1000;
    uint start;
    uint duration;
    uint released;

    constructor(uint time) {
        require(time > 0);
        start = block.timestamp;
        duration = time;
    }

    function release() external {
        require(block.timestamp >= start);
        uint elapsed = block.timestamp - start;
        if (elapsed > duration) {
            elapsed = duration;
        }
        uint vested = grant * elapsed / duration;
        uint before = released;
        if (vested > released && vested <= grant) {
            released = vested;
        }
        assert(released <= grant);
        assert(released >= before);
    }

    function check() external view {
        assert(duration > 0);
    }
}
