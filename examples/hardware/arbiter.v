// Gives a resource to one of four clients by turns: the client after the last winner comes first. It has no bug.
module arbiter (
    input            clock,
    input      [3:0] request,
    output reg [3:0] grant = 0
);
    reg [1:0] last = 3;

    // The requests, rotated such that the client after the last winner has bit 0, and the winner among them.
    wire [1:0] start   = last + 1;
    wire [7:0] twice   = {request, request} >> start;
    wire [3:0] rotated = twice[3:0];
    wire [1:0] winner  = start + (rotated[0] ? 2'd0 : rotated[1] ? 2'd1 : rotated[2] ? 2'd2 : 2'd3);

    always @(posedge clock) begin
        grant <= 0;
        if (request != 0) begin
            grant[winner] <= 1;
            last <= winner;
        end
    end

    // A ghost counts for how long client 0 has asked in vain.
    reg [2:0] waited = 0;

    always @(posedge clock)
        waited <= request[0] && winner != 0 ? waited + 1 : 0;

    always @(*) begin
        one_winner: assert ((grant & (grant - 1)) == 0);
        fair:       assert (waited <= 3);
    end
endmodule
