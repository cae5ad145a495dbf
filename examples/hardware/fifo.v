// A queue of four bytes with a bug: `full` comes one write late. The fifth byte overwrites the first one.
//
// A ghost watches one write, which the input `watch` chooses. It counts the bytes before the watched byte in the queue.
// When no byte is left before it, the watched byte is the front of the queue.
module fifo (
    input            clock,
    input            push,
    input            pop,
    input            watch,
    input      [7:0] data,
    output     [7:0] front,
    output           empty,
    output           full
);
    reg [7:0] memory [0:3];
    reg [1:0] first = 0;
    reg [2:0] count = 0;

    assign empty = count == 0;
    assign full  = count > 4;  // The bug: the queue is full if count is 4.
    assign front = memory[first];

    wire writes = push && !full;
    wire reads  = pop && !empty;

    always @(posedge clock) begin
        if (writes)
            memory[first + count[1:0]] <= data;
        if (reads)
            first <= first + 1;
        count <= count + writes - reads;
    end

    reg       watched = 0;
    reg [7:0] expected;
    reg [2:0] before;

    always @(posedge clock) begin
        if (!watched && watch && writes) begin
            watched  <= 1;
            expected <= data;
            before   <= count - reads;
        end else if (watched && reads) begin
            watched <= before != 0;
            before  <= before - 1;
        end
    end

    always @(*)
        if (watched && before == 0)
            in_order: assert (front == expected);
endmodule
