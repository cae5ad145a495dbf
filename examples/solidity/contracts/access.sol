// SPDX-License-Identifier: MIT OR Apache-2.0
// Access control: a new owner has to accept, and only the owner writes the limit.
//
// expect: safe      assertion: assert(msg.sender == owner)
// open:   safe      assertion: assert(owner != address(0))
// open:   safe      assertion: assert(limit <= 1000)
pragma solidity ^0.8.0;

contract Access {
    address owner;
    address candidate;
    uint limit;

    modifier onlyOwner() {
        require(msg.sender == owner);
        _;
    }

    constructor() {
        require(msg.sender != address(0));
        owner = msg.sender;
    }

    function offer(address to) external onlyOwner {
        candidate = to;
    }

    function accept() external {
        require(msg.sender != address(0));
        require(msg.sender == candidate);
        owner = candidate;
        candidate = address(0);
    }

    function setLimit(uint value) external onlyOwner {
        require(value <= 1000);
        limit = value;
        assert(msg.sender == owner);
    }

    function check() external view {
        assert(owner != address(0));
        assert(limit <= 1000);
    }
}
