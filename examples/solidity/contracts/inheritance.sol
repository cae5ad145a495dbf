// SPDX-License-Identifier: MIT OR Apache-2.0
// Inheritance and internal calls: the derived contract forgets the check of the base contract.
//
// open:   safe      assertion: assert(fee <= 100)
// expect: violated  assertion: assert(charged(amount) <= amount)
pragma solidity ^0.8.0;

abstract contract Fees {
    uint fee;

    function setFee(uint value) public virtual {
        require(value <= 100);
        fee = value;
    }

    function bounded(uint value) internal pure returns (uint) {
        return value > 100 ? 100 : value;
    }
}

contract Careful is Fees {
    function setFee(uint value) public override {
        fee = bounded(value);
    }

    function check() external view {
        assert(fee <= 100);
    }
}

contract Careless is Fees {
    function setFee(uint value) public override {
        fee = value;
    }

    function charged(uint amount) internal view returns (uint) {
        require(amount < 1000 && fee < 1000);
        return fee > amount ? fee : amount;
    }

    function pay(uint amount) external view {
        assert(charged(amount) <= amount);
    }
}
