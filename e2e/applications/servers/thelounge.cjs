/** The Lounge as its package has it, but that it asks no machine on the internet for newer versions of itself. */
require("thelounge/dist/server/plugins/changelog").default.checkForUpdates = () => {};
require("thelounge");
