// SPDX-License-Identifier: MIT OR Apache-2.0
// An auction: the highest bid only grows, and nobody bids after the end.
//
// expect: safe      assertion: assert(highestBid > before)
// open:   safe      assertion: assert(!ended || closed > 0)
pragma solidity ^0.8.0;

contract Auction {
    address seller;
    address highestBidder;
    uint highestBid;
    uint closed;
    bool ended;
    mapping(address => uint) refunds;

    constructor() {
        seller = msg.sender;
    }

    function bid() external payable {
        require(!ended);
        require(msg.value > highestBid);
        uint before = highestBid;
        if (highestBidder != address(0)) {
            refunds[highestBidder] += highestBid;
        }
        highestBidder = msg.sender;
        highestBid = msg.value;
        assert(highestBid > before);
    }

    function end() external {
        require(msg.sender == seller);
        require(!ended);
        ended = true;
        closed++;
    }

    function check() external view {
        assert(!ended || closed > 0);
    }
}
