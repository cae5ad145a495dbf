// SPDX-License-Identifier: MIT OR Apache-2.0
// Division by zero, with and without a check in front. Quotients of variables are hard for proofs.
//
// expect: violated  division by zero: total / people
// open:   safe      division by zero: total / voters
pragma solidity ^0.8.0;

contract Division {
    function share(uint total, uint people) external pure returns (uint) {
        return total / people;
    }

    function votes(uint total, uint voters) external pure returns (uint) {
        require(voters > 0);
        return total / voters;
    }
}
