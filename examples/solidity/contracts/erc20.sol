// SPDX-License-Identifier: MIT OR Apache-2.0
// The part of ERC-20 with allowances: nobody spends more than is allowed.
//
// open:   safe      assertion: assert(allowance[from][msg.sender] + amount == allowed)
// open:   safe      assertion: assert(balanceOf[from] <= had)
// open:   safe      assertion: assert(allowance[msg.sender][spender] == amount)
// expect: violated  assertion: assert(totalSupply <= cap)
pragma solidity ^0.8.0;

contract ERC20 {
    uint constant cap = 1000000;
    uint totalSupply;
    mapping(address => uint) balanceOf;
    mapping(address => mapping(address => uint)) allowance;

    function mint(uint amount) external {
        require(totalSupply < cap);
        totalSupply += amount;
        balanceOf[msg.sender] += amount;
        assert(totalSupply <= cap);
    }

    function approve(address spender, uint amount) external {
        allowance[msg.sender][spender] = amount;
        assert(allowance[msg.sender][spender] == amount);
    }

    function transferFrom(address from, address to, uint amount) external {
        require(from != to);
        uint allowed = allowance[from][msg.sender];
        uint had = balanceOf[from];
        require(allowed >= amount && had >= amount);
        allowance[from][msg.sender] = allowed - amount;
        balanceOf[from] = had - amount;
        balanceOf[to] += amount;
        assert(allowance[from][msg.sender] + amount == allowed);
        assert(balanceOf[from] <= had);
    }
}
