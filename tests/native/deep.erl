%% SPDX-License-Identifier: GPL-2.0
%% deep.erl: send a message to itself, N times, from a function at a known depth
-module(deep).
-export([start/1]).

start([N]) ->
    {ok, Socket} = gen_udp:open(0, []),
    {ok, Port} = inet:port(Socket),
    turns(Socket, Port, list_to_integer(atom_to_list(N))),
    halt().

turns(_, _, 0) ->
    ok;
turns(Socket, Port, N) ->
    9 = level(Socket, Port, 8),
    turns(Socket, Port, N - 1).

%% not in tail position: each call has a frame
level(Socket, Port, 0) ->
    send(Socket, Port) + 1;
level(Socket, Port, N) ->
    level(Socket, Port, N - 1) + 1.

send(Socket, Port) ->
    ok = gen_udp:send(Socket, {127, 0, 0, 1}, Port, <<"x">>),
    0.
