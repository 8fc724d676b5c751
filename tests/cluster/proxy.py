"""A TCP proxy between a box and its store, which a test slows down, stalls, cuts. Kernels without netem have no other way.

Ways are "up", to the store, and "down", back from it.
"""
import asyncio
import contextlib
import random
import threading

from http_hosts import within

CHUNK = 65536


class Way:
    """One direction of all connections: what is done to its bytes from now on."""

    def __init__(self):
        self.delay = self.jitter = 0.0  # seconds
        self.rate = None                # bytes a second
        self.flowing = asyncio.Event()  # not set: nothing is passed on, and all is kept
        self.flowing.set()
        self.passed = 0                 # bytes so far


class Proxy:
    """Listens at `listen` and passes on to `to`, both (host, port) in `namespace`; port 0: any that is free."""

    def __init__(self, to, listen=("127.0.0.1", 0), namespace=None, seed=1):
        self.to, self.listen, self.namespace = to, listen, namespace
        self.dice = random.Random(seed)
        self.connections = set()
        self.lost = set()  # writers to the store whose ends are gone, of which the box knows nothing
        self.refusing = False
        self.accepted = 0
        self.loop = asyncio.new_event_loop()
        ready = threading.Event()
        self.thread = threading.Thread(target=self.run, args=(ready,), daemon=True)
        self.thread.start()
        ready.wait()
        if self.address is None:
            raise OSError(f"no proxy can listen at {listen}")

    def run(self, ready):
        """The thread is in the namespace from here to its end, and so are all sockets that it makes."""
        self.address = None
        with within(self.namespace) if self.namespace else contextlib.nullcontext():
            asyncio.set_event_loop(self.loop)
            try:
                self.ways = {"up": Way(), "down": Way()}
                server = self.loop.run_until_complete(asyncio.start_server(self.accept, *self.listen, limit=CHUNK))
                self.address = server.sockets[0].getsockname()[:2]
            finally:
                ready.set()
            self.loop.run_forever()
            server.close()
            for task in asyncio.all_tasks(self.loop):
                task.cancel()
            self.loop.run_until_complete(asyncio.sleep(0))
            self.loop.run_until_complete(server.wait_closed())
            self.loop.run_until_complete(self.loop.shutdown_asyncgens())
        self.loop.close()

    async def accept(self, reader, writer):
        self.accepted += 1
        if self.refusing:
            writer.transport.abort()
            return
        try:
            to_reader, to_writer = await asyncio.open_connection(*self.to, limit=CHUNK)
        except OSError:
            writer.transport.abort()
            return
        connection = (writer, to_writer)
        self.connections.add(connection)
        pumps = [asyncio.ensure_future(pump) for pump in (self.pump("up", reader, to_writer), self.pump("down", to_reader, writer))]
        try:
            await asyncio.wait(pumps, return_when=asyncio.FIRST_EXCEPTION)
        except asyncio.CancelledError:  # the proxy is closed
            pass
        finally:
            for pump in pumps:
                pump.cancel()
            await asyncio.gather(*pumps, return_exceptions=True)
            self.connections.discard(connection)
            self.lost.discard(to_writer)
            for end in connection:
                end.transport.abort()

    async def pump(self, name, reader, writer):
        """Chunks in their order, each when it is due; then the end of the stream, likewise."""
        way, queue = self.ways[name], asyncio.Queue(1024)
        sending = asyncio.ensure_future(self.send_due(way, queue, writer))
        last = 0.0
        try:
            while True:
                chunk = await reader.read(CHUNK)
                shift = way.delay + (self.dice.uniform(-way.jitter, way.jitter) if way.jitter else 0.0)
                last = max(last, self.loop.time() + max(0.0, shift))
                await queue.put((last, chunk))
                if not chunk:
                    break
            await sending
        finally:
            sending.cancel()

    async def send_due(self, way, queue, writer):
        while True:
            due, chunk = await queue.get()
            await asyncio.sleep(max(0.0, due - self.loop.time()))
            await way.flowing.wait()
            if writer in self.lost:
                continue
            if not chunk:
                with contextlib.suppress(OSError):
                    writer.write_eof()
                return
            if way.rate:
                await asyncio.sleep(len(chunk) / way.rate)
            way.passed += len(chunk)
            writer.write(chunk)
            await writer.drain()

    def call(self, function, *arguments):
        """In the proxy's thread; returns when it is done."""
        async def run():
            return function(*arguments)
        return asyncio.run_coroutine_threadsafe(run(), self.loop).result(10)

    def delay(self, seconds, jitter=0.0, ways=("up", "down")):
        for name in ways:
            self.call(self.set_delay, self.ways[name], seconds, jitter)

    @staticmethod
    def set_delay(way, seconds, jitter):
        way.delay, way.jitter = seconds, jitter

    def throttle(self, rate, ways=("up", "down")):
        for name in ways:
            self.call(setattr, self.ways[name], "rate", rate)

    def stall(self, ways=("up", "down")):
        """Nothing is passed on that way until heal(), as if the network were gone; what comes is kept."""
        for name in ways:
            self.call(self.ways[name].flowing.clear)

    def cut(self):
        """All connections end at once, for both ends."""
        self.call(self.end, (0, 1))

    def half_open(self):
        """The store's ends are gone, and the box is not told: whatever it says is swallowed."""
        self.call(self.ways["down"].flowing.clear)
        self.call(self.lost.update, [store for _, store in self.connections])
        self.call(self.end, (1,))

    def end(self, which):
        for connection in list(self.connections):
            for end in which:
                connection[end].transport.abort()

    def end_lost(self, store):
        for connection in [one for one in self.connections if one[1] is store]:
            connection[0].transport.abort()

    def refuse(self):
        """Further connections are reset, and those that there are."""
        self.call(setattr, self, "refusing", True)
        self.cut()

    def heal(self):
        """As at the beginning. What was half open stays lost: its connections end."""
        self.call(setattr, self, "refusing", False)
        for store in list(self.lost):
            self.call(self.end_lost, store)
        for way in self.ways.values():
            self.call(self.set_delay, way, 0.0, 0.0)
            self.call(setattr, way, "rate", None)
            self.call(way.flowing.set)

    def passed(self, name):
        return self.ways[name].passed

    def close(self):
        self.loop.call_soon_threadsafe(self.loop.stop)
        self.thread.join(10)
