#include "control/cli/simulate/load.hpp"

#include "control/cli/capture_end.hpp"
#include "control/simulation/load_words.hpp"
#include "lib/capture/reader.hpp"
#include "lib/engine/check/check_limit.hpp"
#include "lib/packet/parse.hpp"
#include "lib/rules/units_of.hpp"

#include <algorithm>
#include <memory>
#include <optional>
#include <utility>

namespace sluice {
namespace {

// The frames of a capture on its own clock, which never goes back. As a rule would count them.
class CaptureArrivals {
public:
    CaptureArrivals(CaptureReader reader, std::string path, Per per)
        : reader_{std::move(reader)}, path_{std::move(path)}, per_{per} {}

    // The next frame that carries something to count.
    std::optional<Arrival> next() {
        CapturedFrame frame;
        while ((end_ = reader_.next(frame)) == CaptureReader::Next::Frame) {
            if (!first_) {
                first_ = frame.timestamp;
            }
            latest_ = std::max(latest_, Instant{frame.timestamp - *first_});
            PacketHeaders headers;
            parse_frame({frame.bytes, frame.wire_size}, Tunnels{}, headers);
            const Units cost = units_of(per_, headers);
            if (cost.count() != 0) {
                return Arrival{latest_, cost, color_of(headers.dscp)};
            }
        }
        return std::nullopt;
    }
    [[nodiscard]] ExitCode finish() const {
        // Packets behind the end of the run were not read.
        return end_ == CaptureReader::Next::Frame ? ExitCode::Done
                                                  : report_end(end_, reader_, path_);
    }

private:
    CaptureReader reader_;
    std::string path_;
    Per per_;
    CaptureReader::Next end_ = CaptureReader::Next::Frame;
    std::optional<Instant> first_;
    Instant latest_{};
};

Result<AskedLoad> capture(const std::string& path, Per per) {
    if (path.empty()) {
        return Error{Errc::BadSyntax, "--load capture needs --pcap FILE"};
    }
    Result<CaptureReader> reader = CaptureReader::open(path);
    if (!reader) {
        return reader.error();
    }
    auto source = std::make_shared<CaptureArrivals>(*std::move(reader), path, per);
    AskedLoad load;
    load.arrivals = [source] { return source->next(); };
    load.finish = [source] { return source->finish(); };
    return load;
}

}  // namespace

Result<AskedLoad> make_load(const SimulateOptions& options, const std::string& pcap_file, Per per) {
    if (options.load == "capture") {
        return capture(pcap_file, per);
    }
    Result<Load> drawn = draw_load(options, per, Spelling::Option);
    if (!drawn) {
        return drawn.error();
    }
    AskedLoad load;
    static_cast<Load&>(load) = *std::move(drawn);
    return load;
}

}  // namespace sluice
