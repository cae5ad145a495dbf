// SPDX-License-Identifier: MIT OR Apache-2.0
// An escrow as a state machine: it is paid out at most once, after it was funded.
//
// open:   safe      assertion: assert(payments <= 1)
// open:   safe      assertion: assert(state == State.Open || amount > 0)
// expect: violated  assertion: assert(state != State.Refunded)
pragma solidity ^0.8.0;

contract Escrow {
    enum State { Open, Funded, Released, Refunded }

    State state;
    address buyer;
    address seller;
    uint amount;
    uint payments;

    constructor(address to) {
        buyer = msg.sender;
        seller = to;
    }

    function fund() external payable {
        require(state == State.Open && msg.value > 0);
        amount = msg.value;
        state = State.Funded;
    }

    function release() external {
        require(state == State.Funded && msg.sender == buyer);
        state = State.Released;
        payments++;
    }

    function refund() external {
        require(state == State.Funded && msg.sender == seller);
        state = State.Refunded;
        payments++;
    }

    function check() external view {
        assert(payments <= 1);
        assert(state == State.Open || amount > 0);
        assert(state != State.Refunded);
    }
}
