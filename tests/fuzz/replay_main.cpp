// Runs a fuzz target without libFuzzer: every file of the folders given, then mutations of them,
// and of nothing, drawn from a fixed seed. The same inputs each time, so a failure can be repeated.
#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <random>
#include <string>
#include <vector>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

namespace {

using Input = std::vector<std::uint8_t>;

constexpr std::size_t kMutations = 20'000;
constexpr std::size_t kMaxGrowth = 64;

std::vector<Input> read_corpus(int count, char** folders) {
    std::vector<std::filesystem::path> files;
    for (int i = 0; i < count; ++i) {
        for (const auto& entry : std::filesystem::directory_iterator{folders[i]}) {
            files.push_back(entry.path());
        }
    }
    std::sort(files.begin(), files.end());
    std::vector<Input> corpus{Input{}};
    for (const auto& file : files) {
        std::ifstream stream{file, std::ios::binary};
        corpus.emplace_back(std::istreambuf_iterator<char>{stream},
                            std::istreambuf_iterator<char>{});
    }
    return corpus;
}

class Mutator {
public:
    Input mutate(Input input) {
        for (std::size_t changes = 1 + below(4); changes > 0; --changes) {
            change(input);
        }
        return input;
    }
    std::size_t below(std::size_t bound) { return random_() % bound; }

private:
    void change(Input& input) {
        if (input.empty() || below(4) == 0) {
            insert(input);
            return;
        }
        std::uint8_t& byte = input[below(input.size())];
        switch (below(4)) {
            case 0:
                byte = static_cast<std::uint8_t>(random_());
                break;
            case 1:
                byte = static_cast<std::uint8_t>(byte ^ (1U << below(8)));
                break;
            case 2:
                byte = below(2) == 0 ? 0x00 : 0xff;
                break;
            default:
                input.resize(below(input.size()));
                break;
        }
    }
    void insert(Input& input) {
        Input more(1 + below(kMaxGrowth));
        std::generate(more.begin(), more.end(),
                      [this] { return static_cast<std::uint8_t>(random_()); });
        const auto at = static_cast<std::ptrdiff_t>(below(input.size() + 1));
        input.insert(input.begin() + at, more.begin(), more.end());
    }

    std::mt19937_64 random_{20261120};
};

}  // namespace

int main(int argc, char** argv) {
    const std::vector<Input> corpus = read_corpus(argc - 1, argv + 1);
    for (const Input& input : corpus) {
        LLVMFuzzerTestOneInput(input.data(), input.size());
    }
    Mutator mutator;
    for (std::size_t i = 0; i < kMutations; ++i) {
        const Input input = mutator.mutate(corpus[mutator.below(corpus.size())]);
        LLVMFuzzerTestOneInput(input.data(), input.size());
    }
    std::printf("%zu inputs of the corpus, %zu mutations\n", corpus.size() - 1, kMutations);
}
