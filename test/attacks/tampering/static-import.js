// Ends: ERROR
import fs from 'node:fs';
return fs;
