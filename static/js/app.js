// Starts every behaviour of the pages; each binds itself to data- attributes.
import { startClock } from "./clock.js";
import { startCopy } from "./copy.js";
import { startDialogs } from "./dialogs.js";
import "./faults.js";
import { startFolds } from "./folds.js";
import { startKeep } from "./keep.js";
import { startKeyboard } from "./keyboard.js";
import { startLive } from "./live.js";
import { startPalette } from "./palette.js";
import { startPreferences } from "./preferences.js";
import { startRefresh } from "./refresh.js";
import { startTabs } from "./tabs.js";

startPreferences();
startClock();
startCopy();
startDialogs();
startFolds();
startTabs();
startKeep();
startKeyboard();
startPalette();
startRefresh();
startLive();
