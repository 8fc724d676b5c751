#pragma once
#include "dataplane/port/rss_keys.hpp"

#include <string>

namespace sluice {

// The RSS keys that lie in the state directory, with a sum, readable by their owner alone; new ones
// where there are none yet.
struct FoundRssKeys {
    RssKeys keys;
    // The keys there could not be read: they are kept aside and reported, and these are new.
    bool put_aside = false;
    // The keys lie there for the next start too; else they are good for this run, which is
    // reported: none can be written, or those that lie there cannot be read just now, and stay.
    bool kept = true;
};
[[nodiscard]] FoundRssKeys load_rss_keys(const std::string& state_dir);

}  // namespace sluice
