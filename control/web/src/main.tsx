import { render } from "preact";

import "./style/app.css";
import { Frame } from "./frame/frame";
import { listenToKeys } from "./frame/keys";
import { Lock } from "./frame/lock";
import { screenOf, screensFor } from "./frame/screen";
import { tenant } from "./frame/tenant";
import { begin, lastWho, route } from "./page";
import { Guard } from "./parts/guard";
import { SCREENS } from "./screens/screens";

// Screens ask as soon as they are there, and whom they ask for decides which they are.
function Page() {
  const screens = screensFor(SCREENS, tenant.value !== null);
  const screen = screenOf(screens, route.value);
  return (
    <>
      <Lock />
      <Frame screens={screens} screen={screen}>
        {lastWho.value !== null && (
          <Guard of={screen.name}>
            <screen.View />
          </Guard>
        )}
      </Frame>
    </>
  );
}

const place = document.getElementById("app");
if (place !== null) {
  place.replaceChildren();
  const allowed = () => screensFor(SCREENS, tenant.value !== null);
  begin((shown) => screenOf(allowed(), shown).live(shown));
  listenToKeys(allowed);
  render(<Page />, place);
}
