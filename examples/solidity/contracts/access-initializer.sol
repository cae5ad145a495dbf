// SPDX-License-Identifier: MIT OR Apache-2.0
// The initializer can be called again, by anybody: the flag is never set.
//
// expect: violated  assertion: assert(msg.sender == first)
pragma solidity ^0.8.0;

contract Initializable {
    bool initialized;
    address owner;
    address first;

    function initialize() external {
        require(!initialized);
        require(msg.sender != address(0));
        if (first == address(0)) {
            first = msg.sender;
        }
        owner = msg.sender;
    }

    function withdraw() external view {
        require(first != address(0));
        require(msg.sender == owner);
        assert(msg.sender == first);
    }
}
