// npm run setup: install what the lock file names, build every program.
import { ensureSetUp } from "./workspace.mjs";

ensureSetUp();
