// SPDX-License-Identifier: MIT OR Apache-2.0
// The balances are read before they are written. A transfer to oneself therefore makes money.
//
// expect: violated  assertion: assert(to != msg.sender || balances[to] == from)
pragma solidity ^0.8.0;

contract SelfTransfer {
    mapping(address => uint) balances;

    function deposit() external payable {
        balances[msg.sender] += msg.value;
    }

    function transfer(address to, uint amount) external {
        uint from = balances[msg.sender];
        uint target = balances[to];
        require(from >= amount);
        balances[msg.sender] = from - amount;
        balances[to] = target + amount;
        assert(to != msg.sender || balances[to] == from);
    }
}
