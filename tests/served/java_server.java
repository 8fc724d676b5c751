// java_server.java ADDRESS PORT LOG: OpenJDK's web server; each request that reaches its handler is a line of LOG: the client's
// address, 200, and its path, which is /login where the handler takes it for that. A body that the server cannot read is left.
import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import java.io.FileOutputStream;
import java.io.IOException;
import java.io.PrintStream;
import java.net.InetSocketAddress;
import java.util.concurrent.Executors;

class JavaServer {
    static final String LOGIN = "/login";
    static final int BACKLOG = 1024, BIG = 10_000_000;
    static PrintStream log;

    public static void main(String[] words) throws IOException {
        log = new PrintStream(new FileOutputStream(words[2], true), true);
        HttpServer server = HttpServer.create(new InetSocketAddress(words[0], Integer.parseInt(words[1])), BACKLOG);
        server.createContext("/", JavaServer::answer);
        server.setExecutor(Executors.newCachedThreadPool());
        server.start();
    }

    static void answer(HttpExchange exchange) throws IOException {
        String path = LOGIN.equals(exchange.getRequestURI().getPath()) ? LOGIN : exchange.getRequestURI().getRawPath();
        log.println(exchange.getRemoteAddress().getAddress().getHostAddress() + " 200 " + path);
        try {
            exchange.getRequestBody().readAllBytes();
        } catch (IOException unreadable) {
            // As many handlers do it: the answer does not need the body.
        }
        byte[] body = "/big".equals(path) ? new byte[BIG] : ("served " + path + "\n").getBytes();
        boolean isHead = exchange.getRequestMethod().equals("HEAD");
        exchange.sendResponseHeaders(200, isHead ? -1 : body.length);
        if (!isHead) {
            exchange.getResponseBody().write(body);
        }
        exchange.close();
    }
}
