// SPDX-License-Identifier: MIT OR Apache-2.0
// A token whose transfers keep the sum of the two balances.
//
// expect: safe      assertion: assert(balances[msg.sender] + balances[to] == before)
// expect: safe      assertion: assert(minter == creator)
pragma solidity ^0.8.0;

contract Token {
    address immutable creator;
    address minter;
    mapping(address => uint) balances;

    constructor() {
        creator = msg.sender;
        minter = msg.sender;
    }

    function mint(address to, uint amount) external {
        require(msg.sender == minter);
        balances[to] += amount;
    }

    function transfer(address to, uint amount) external {
        require(to != msg.sender);
        require(balances[msg.sender] >= amount);
        uint before = balances[msg.sender] + balances[to];
        balances[msg.sender] -= amount;
        balances[to] += amount;
        assert(balances[msg.sender] + balances[to] == before);
    }

    function check() external view {
        assert(minter == creator);
    }
}
