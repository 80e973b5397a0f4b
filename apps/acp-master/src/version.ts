// The version of the product and of its extension: both sides of a connection compare it, a test holds it to package.json.

export const VERSION = "0.1.0";
