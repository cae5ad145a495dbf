// SPDX-License-Identifier: MIT OR Apache-2.0
// The vault calls unknown code before it writes: that code can call back.
//
// expect: violated  assertion: assert(rounds == before)
pragma solidity ^0.8.0;

interface Receiver {
    function ping() external;
}

contract Vault {
    uint rounds;

    function enter() external {
        rounds++;
    }

    function call(Receiver receiver) external {
        uint before = rounds;
        receiver.ping();
        assert(rounds == before);
    }
}
