#include "tests/bench/http_heads.hpp"

namespace sluice::bench {

namespace {

std::string first_lines(std::mt19937_64& random) {
    return "GET /" + random_word(random, 3, 8) + "/" + random_word(random, 3, 8) +
           "?id=" + random_word(random, 2, 6) + " HTTP/1.1\r\nHost: " + random_word(random, 3, 8) +
           ".example\r\n";
}

std::string one_header(std::mt19937_64& random) {
    return first_lines(random) + "\r\n";
}

std::string five_headers(std::mt19937_64& random) {
    return first_lines(random) + "User-Agent: curl/8.1." + random_word(random, 1, 3) +
           "\r\nAccept: */*\r\nX-Request-Id: " + random_word(random, 8, 8) +
           "\r\nX-Forwarded-For: 192.0.2.1\r\n\r\n";
}

std::string twelve_headers(std::mt19937_64& random) {
    return first_lines(random) + "User-Agent: " + random_word(random, 12, 12) +
           "\r\nAccept: */*\r\nAccept-Language: en\r\nReferer: /" + random_word(random, 5, 8) +
           "\r\nConnection: keep-alive\r\nDNT: 1\r\nCookie: sid=" + random_word(random, 8, 8) +
           "; b=" + random_word(random, 2, 4) +
           "\r\nCache-Control: no-cache\r\nX-A: " + random_word(random, 2, 6) +
           "\r\nX-Request-Id: " + random_word(random, 8, 8) +
           "\r\nX-Forwarded-For: 192.0.2.1\r\n\r\n";
}

// A browser's request for a picture or a script: short names of hosts, a usual User-Agent.
std::string usual_get(std::mt19937_64& random) {
    return usual_get_of(random, random_word(random, 3, 8));
}

std::string thirty_headers(std::mt19937_64& random) {
    std::string head = first_lines(random);
    for (int i = 0; i < 28; ++i) {
        head += "x-" + random_word(random, 3, 14) + ": " + random_word(random, 2, 30) + "\r\n";
    }
    return head + "User-Agent: " + random_word(random, 12, 12) + "\r\n\r\n";
}

// A browser's, of one of three, with a few cookies.
std::string browser(std::mt19937_64& random) {
    constexpr std::string_view kAgents[] = {
        "Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) "
        "Chrome/126.0.0.0 Safari/537.36",
        "Mozilla/5.0 (X11; Linux x86_64; rv:127.0) Gecko/20100101 Firefox/127.0",
        "Mozilla/5.0 (iPhone; CPU iPhone OS 17_5 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like "
        "Gecko) Version/17.5 Mobile/15E148 Safari/604.1"};
    std::string head = "GET /" + random_word(random, 3, 12) + "/" + random_word(random, 3, 20) +
                       "/" + random_word(random, 3, 20) + "?q=" + random_word(random, 2, 30) +
                       " HTTP/1.1\r\nHost: www." + random_word(random, 3, 12) +
                       ".example\r\nConnection: keep-alive\r\n";
    if (random() % 2 == 0) {
        head +=
            "sec-ch-ua: \"Not/A)Brand\";v=\"8\", \"Chromium\";v=\"126\", \"Google "
            "Chrome\";v=\"126\"\r\nsec-ch-ua-mobile: ?0\r\nsec-ch-ua-platform: "
            "\"Windows\"\r\n";
    }
    head += "Upgrade-Insecure-Requests: 1\r\nUser-Agent: ";
    head += kAgents[random() % std::size(kAgents)];
    head +=
        "\r\nAccept: text/html,application/xhtml+xml,application/xml;q=0.9,image/avif,"
        "image/webp,image/apng,*/*;q=0.8,application/signed-exchange;v=b3;q=0.7\r\n"
        "Sec-Fetch-Site: same-origin\r\nSec-Fetch-Mode: navigate\r\nSec-Fetch-User: ?1\r\n"
        "Sec-Fetch-Dest: document\r\nReferer: https://www.example/";
    head +=
        random_word(random, 10, 40) + "\r\nAccept-Encoding: gzip, deflate, br, zstd\r\n" +
        "Accept-Language: en-GB,en;q=0.9,de;q=0.8\r\nCookie: sid=" + random_word(random, 20, 12);
    for (std::size_t left = random() % 9; left > 0; --left) {
        head += "; _" + random_word(random, 2, 8) + "=" + random_word(random, 10, 60);
    }
    return head + "\r\n\r\n";
}

std::string four_kib_of_cookies(std::mt19937_64& random) {
    std::string head = first_lines(random) + "User-Agent: " + random_word(random, 12, 12) +
                       "\r\nAccept: */*\r\nCookie: a=" + random_word(random, 4, 8);
    const std::size_t end = head.size() + 4096;
    while (head.size() < end) {
        head += "; " + random_word(random, 2, 14) + "=" + random_word(random, 10, 90);
    }
    return head + "; sid=" + random_word(random, 20, 12) + "\r\nDNT: 1\r\n\r\n";
}

// The dearest bytes: short lines that are no header's.
std::string lines_of(std::mt19937_64& random, std::size_t count, std::string_view end) {
    std::string head = first_lines(random);
    for (std::size_t left = count; left > 0; --left) {
        head += random_word(random, 16, 9);
        head += end;
    }
    return head + "X: y\r\n\r\n";
}

std::string without_colons(std::mt19937_64& random) {
    return lines_of(random, 680, "\r\n");
}

std::string with_spaces_before_colons(std::mt19937_64& random) {
    return lines_of(random, 600, " :\r\n");
}

std::string of_folded_lines(std::mt19937_64& random) {
    return lines_of(random, 680, "\r\n ");
}

std::string of_shortest_lines(std::mt19937_64& random) {
    std::string head = first_lines(random);
    while (head.size() < (std::size_t{16} << 10) - 4) {
        head += static_cast<char>('a' + random() % 26);
        head += '\n';
    }
    return head + "\r\n";
}

std::string of_lengths(std::mt19937_64& random) {
    std::string head = first_lines(random) + "Content-Length: 1";
    while (head.size() < (std::size_t{16} << 10) - 8) {
        head += ",1";
    }
    return head + "\r\n\r\n";
}

std::string of_encoded_dots(std::mt19937_64& random) {
    std::string head = "GET /" + random_word(random, 3, 8);
    while (head.size() < (std::size_t{16} << 10) - 64) {
        head += "/%2e%2e/a";
    }
    return head + " HTTP/1.1\r\nHost: a.example\r\n\r\n";
}

}  // namespace

std::string usual_get_of(std::mt19937_64& random, std::string_view first_segment) {
    constexpr std::string_view kAgents[] = {
        "Mozilla/5.0 (X11; Linux x86_64; rv:127.0) Gecko/20100101 Firefox/127.0",
        "Mozilla/5.0 (Windows NT 10.0; rv:115.0) Gecko/20100101 Firefox/115.0",
        "Mozilla/5.0 (Macintosh) AppleWebKit/605.1 Version/17.5 Safari/605.1"};
    std::string head{"GET /"};
    head += first_segment;
    head += "/" + random_word(random, 3, 8) + "/" + random_word(random, 4, 9) +
            ".js?v=" + random_word(random, 4, 3) + " HTTP/1.1\r\nHost: www" +
            std::to_string(random() % 8) + ".shop.example\r\nUser-Agent: ";
    head += kAgents[random() % std::size(kAgents)];
    head +=
        "\r\nAccept: */*\r\nAccept-Language: en-GB,en;q=0.5\r\nAccept-Encoding: gzip, deflate\r\n"
        "Connection: keep-alive\r\nReferer: http://www.shop.example/";
    return head + random_word(random, 4, 9) + "\r\n\r\n";
}

std::string random_word(std::mt19937_64& random, std::size_t least, std::size_t rss_mapping) {
    std::string text;
    for (std::size_t left = least + random() % rss_mapping; left > 0; --left) {
        text += static_cast<char>('a' + random() % 26);
    }
    return text;
}

const std::vector<HeadKind>& head_kinds() {
    static const std::vector<HeadKind> kinds{
        {"12 headers", &twelve_headers},
        {"7 headers", &usual_get},
        {"1 header", &one_header},
        {"5 headers", &five_headers},
        {"30 headers", &thirty_headers},
        {"a browser's", &browser},
        {"4 KiB of cookies", &four_kib_of_cookies},
    };
    return kinds;
}

const std::vector<HeadKind>& hostile_head_kinds() {
    static const std::vector<HeadKind> kinds{
        {"680 lines without a colon", &without_colons},
        {"600 lines with a space before the colon", &with_spaces_before_colons},
        {"680 folded lines", &of_folded_lines},
        {"lines of one letter", &of_shortest_lines},
        {"one length again and again", &of_lengths},
        {"a path of encoded dots", &of_encoded_dots},
    };
    return kinds;
}

}  // namespace sluice::bench
