// node_server.js ADDRESS PORT LOG: Node's web server with a WebSocket that sends each short text back; each request that
// reaches its handler is a line of LOG: the client's address, 200, and the path as it came; /login where a program that routes by
// `new URL(...).pathname`, or by the older `url.parse(...).pathname`, takes it for that, and where one that routes by
// `new URL(...).hostname`, as Node's manual makes it, takes the host for login.example.
"use strict";
const crypto = require("crypto"), fs = require("fs"), http = require("http"), url = require("url");
const [address, port, file] = process.argv.slice(2);
const log = fs.openSync(file, "a");
const kLogin = "/login";
const paths = [target => new URL(target, "http://a.example").pathname, target => url.parse(target).pathname];
const host = request => new URL(request.url, `http://${request.headers.host}`).hostname;
const holds = ask => {
  try {
    return ask();
  } catch {
    return false; // no URL: such a program serves nothing
  }
};
const isLogin = request =>
  paths.some(read => holds(() => read(request.url) === kLogin)) || holds(() => host(request) === "login.example");
const note = (request, status) => {
  const path = isLogin(request) ? kLogin : request.url.split("?")[0];
  fs.writeSync(log, `${request.socket.client} ${status} ${path}\n`);
  return path;
};
const server = http.createServer((request, response) => {
  const path = note(request, 200);
  const body = path === "/big" ? Buffer.alloc(10000000) : Buffer.from(`served ${path}\n`);
  // A length, without which Node ends connections of HTTP/1.0 that are to be kept.
  response.setHeader("Content-Length", body.length);
  response.end(body);
});
const kAccept = "258EAFA5-E914-47DA-95CA-C5AB0DC85B11"; // RFC 6455, 1.3
server.on("upgrade", (request, socket, head) => {
  note(request, 200);
  const key = crypto.createHash("sha1").update(request.headers["sec-websocket-key"] + kAccept).digest("base64");
  socket.write("HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n" +
               `Sec-WebSocket-Accept: ${key}\r\n\r\n`);
  let rest = head;
  const echo = () => {
    // A client's frame of less than 126 bytes: two bytes, a mask of four, the text.
    while (rest.length >= 6 && rest.length >= 6 + (rest[1] & 127)) {
      const size = rest[1] & 127, mask = rest.subarray(2, 6);
      const text = Buffer.from(rest.subarray(6, 6 + size).map((byte, i) => byte ^ mask[i % 4]));
      socket.write(Buffer.concat([Buffer.from([rest[0], size]), text]));
      rest = rest.subarray(6 + size);
    }
  };
  echo();
  socket.on("data", more => { rest = Buffer.concat([rest, more]); echo(); });
  socket.on("error", () => {});
});
// A socket that was reset no longer knows whose it was; before it is accepted, it never does.
server.on("connection", socket => { socket.client = socket.remoteAddress; });
server.on("clientError", (_, socket) => socket.destroy());
server.listen({ host: address, port: Number(port), backlog: 1024 });
