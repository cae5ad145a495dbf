// SPDX-License-Identifier: MIT OR Apache-2.0
// The seller can reopen the auction with a lower price than the last one: three calls to the error.
//
// expect: violated  assertion: assert(highestBid >= record)
pragma solidity ^0.8.0;

contract ReopenedAuction {
    address seller;
    uint highestBid;
    uint record;
    bool ended;

    constructor() {
        seller = msg.sender;
    }

    function bid(uint amount) external {
        require(!ended);
        require(amount > highestBid);
        highestBid = amount;
        if (amount > record) {
            record = amount;
        }
    }

    function end() external {
        require(msg.sender == seller);
        ended = true;
    }

    function reopen() external {
        require(msg.sender == seller);
        require(ended);
        ended = false;
        highestBid = 0;
    }

    function check() external view {
        assert(highestBid >= record);
    }
}
