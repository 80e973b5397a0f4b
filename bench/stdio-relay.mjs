// The least that can stand between an editor and a socket: bytes from stdin to the socket and back. node stdio-relay.mjs PATH
import { connect } from "node:net";

const socket = connect(process.argv[2]);
process.stdin.pipe(socket);
socket.pipe(process.stdout);
