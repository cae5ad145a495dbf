// SPDX-License-Identifier: MIT OR Apache-2.0
// A mapping of structs: an account that is open has an owner, and closing it twice is impossible.
//
// open:   safe      assertion: assert(accounts[id].owner == msg.sender)
// open:   safe      assertion: assert(!accounts[id].open)
// expect: violated  assertion: assert(accounts[id].limit <= 500)
pragma solidity ^0.8.0;

contract Accounts {
    struct Account {
        address owner;
        uint limit;
        bool open;
    }

    mapping(uint => Account) accounts;

    function open(uint id) external {
        require(!accounts[id].open);
        accounts[id] = Account(msg.sender, 100, true);
        assert(accounts[id].owner == msg.sender);
    }

    function raise(uint id) external {
        require(accounts[id].open);
        require(accounts[id].limit < 600);
        accounts[id].limit += 250;
        assert(accounts[id].limit <= 500);
    }

    function close(uint id) external {
        require(accounts[id].open && accounts[id].owner == msg.sender);
        accounts[id].open = false;
        assert(!accounts[id].open);
    }
}
