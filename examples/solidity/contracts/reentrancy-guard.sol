// SPDX-License-Identifier: MIT OR Apache-2.0
// The same with a lock: unknown code cannot change the number while the vault calls it.
//
// open:   safe      assertion: assert(rounds == before)
pragma solidity ^0.8.0;

interface Receiver {
    function ping() external;
}

contract GuardedVault {
    uint rounds;
    bool locked;

    modifier guarded() {
        require(!locked);
        locked = true;
        _;
        locked = false;
    }

    function enter() external guarded {
        rounds++;
    }

    function call(Receiver receiver) external guarded {
        uint before = rounds;
        receiver.ping();
        assert(rounds == before);
    }
}
