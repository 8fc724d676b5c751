#include "tests/fakes/fake_dataplane.hpp"

#include <cstdio>
#include <cstdlib>
#include <string_view>

#include <unistd.h>

// fake_dataplane SOCKET [WHY]: a dataplane without packets, until killed. Writes a word for every
// request; with WHY, it refuses all rules for this reason. fake_dataplane SOCKET --rate N: counts
// N packets a second. fake_dataplane SOCKET --cluster: is in a cluster.
int main(int argc, char** argv) {
    if (argc < 2) {
        std::fputs("usage: fake_dataplane SOCKET [WHY | --rate N | --cluster]\n", stderr);
        return 2;
    }
    sluice::FakeDataplane dataplane{argv[1], [](const std::string& request) {
                                        std::puts(request.c_str());
                                        std::fflush(stdout);
                                    }};
    if (argc > 3 && std::string_view{argv[2]} == "--rate") {
        dataplane.count(std::strtoull(argv[3], nullptr, 10));
    } else if (argc == 3 && std::string_view{argv[2]} == "--cluster") {
        dataplane.join_cluster();
    } else if (argc > 2) {
        dataplane.refuse(argv[2]);
    }
    for (;;) {
        ::pause();
    }
}
