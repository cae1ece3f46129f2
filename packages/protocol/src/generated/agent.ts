// Generated from openapi/agent.yaml by scripts/generate.mjs. Change the contract, then run "npm run generate".
export interface paths {
    "/": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Say which agent answers here */
        get: operations["getBanner"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/ping": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Answer at once */
        get: operations["ping"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/health": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Report readiness and features
         * @description A sandbox is ready for work when `status` is `healthy`.
         */
        get: operations["getAgentHealth"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/info": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Describe the agent and its machine */
        get: operations["getInfo"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/system": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Describe the system and its present load
         * @description CPU, memory and disk use of the sandbox in percent, with the system's facts.
         */
        get: operations["getSystem"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/execute": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Run code and wait for its end
         * @description The answer is 200 whatever the program does: `success` is `exit_code == 0`. A program over its `timeout` is
         *     killed with everything it started and reported with exit code 124 and `termination_reason` `timeout`. When the
         *     client closes the connection, the execution is killed too.
         *
         *     Variables of Python and JavaScript last from one execution to the next (see `context`), which run one after the
         *     other; `timeout` counts from when the code begins. `env` and `workdir` are for this execution only. A timeout
         *     interrupts the code and keeps the variables; code that goes on is killed with them, and `context_lost` says so.
         *     Variables that an interpreter reads only when it starts (`PYTHON…`, `LD_…`, a `PATH` that leads to another one)
         *     have contexts of their own.
         */
        post: operations["executeCode"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/execute/rich": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Run code and collect what it displays
         * @description As `/execute`, with plots, frames and other displayed values in `rich_outputs`.
         */
        post: operations["executeRich"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/execute/ipython": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Run Python in the sandbox's IPython session */
        post: operations["executeIpython"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/execute/background": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Start code and do not wait
         * @description The answer names the execution. `GET /execute/processes` shows how it fares, `/execute/processes/{process_id}/output`
         *     what it writes, and the kill operations end it. It counts as one of the programs that may run at a time.
         */
        post: operations["executeBackground"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/execute/async": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Start code and report its end to a URL
         * @description At the end the result is sent by POST to `callback_url` with the headers `X-HOPX-Timestamp` (Unix seconds) and,
         *     when a secret was given, `X-HOPX-Signature: sha256=<hex HMAC-SHA-256 of the raw body>`.
         */
        post: operations["executeAsync"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/execute/processes": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** List background executions */
        get: operations["listExecutions"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/execute/processes/{process_id}/output": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Read what a background execution writes
         * @description While the execution runs and after its end. Pass `stdout_offset` and `stderr_offset` of an answer to the next call, until
         *     `complete` is true. The first 64 MiB of each stream and its end are kept, but of the oldest long outputs only
         *     beginning and end: where something is missing, `stdout_start` is higher than the offset that was asked for.
         */
        get: operations["getExecutionOutput"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/execute/kill": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post?: never;
        /**
         * Kill a background execution
         * @description Ends the execution and every process it started. An execution that has ended already is no error: `status` and `message` say so.
         */
        delete: operations["killExecution"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/execute/kill/{process_id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Kill a background execution, by path
         * @description The same as `DELETE /execute/kill`. A number is the `pid` of a process that `GET /processes` lists, which is killed alone.
         */
        post: operations["killExecutionById"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/processes/{process_id}/kill": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Kill a background execution, under /processes
         * @description The same as `DELETE /execute/kill`.
         */
        post: operations["killProcess"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/execute/stream": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Run code over a WebSocket
         * @description The client sends one `execute` frame; the server sends output as it appears, then `result` or `error`, and
         *     always `complete` before it closes. A `cancel` frame ends the program, and so does closing the connection.
         *
         *     The next frame is sent when the client has answered the ping behind the one before, so that clients which take
         *     one frame at a time lose none. Of what a slow reader has not read, 64 MiB of each output are kept; then the
         *     program waits for the reader. What could not be kept, because the disk is full, is told as `skipped_bytes`.
         */
        get: operations["streamExecution"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/stream": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Run code over a WebSocket, short path
         * @description The same frames as `/execute/stream`.
         */
        get: operations["streamCode"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/stream/ipython": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Run Python cells over a WebSocket
         * @description The same frames as `/execute/stream`, run in the sandbox's IPython session.
         */
        get: operations["streamIpython"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/commands/run": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Run a command and wait for its end
         * @description With `args`, `command` is the program and `args` its arguments, and no shell is involved. Without `args`,
         *     `command` is a line for the shell. Output, timeout and abort are those of `/execute`.
         */
        post: operations["runCommand"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/commands/background": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Start a command and do not wait
         * @description As `/execute/background`, for what `/commands/run` takes. A program that is not there is refused with 400.
         */
        post: operations["runCommandBackground"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/commands/stream": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Run a command over a WebSocket
         * @description As `/execute/stream`, with a command in the first frame. Frames `stdin` go to its standard input until
         *     `stdin_close`; `signal` goes to its process group. A command that gets no `stdin` frames waits for them as it
         *     would at a terminal: send `stdin_close`, or say `stdin: false` in the first frame. A program that does not exist is
         *     a `result` with exit code 127, one that cannot be executed 126, as for `/commands/run`.
         */
        get: operations["streamCommand"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/files/read": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Read a text file
         * @description The whole file as UTF-8 text, up to 64 MiB as JSON; larger or binary files belong to `/files/download`.
         */
        get: operations["readFile"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/files/write": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Write a file
         * @description Missing parent directories are created. The file appears whole or not at all. A symbolic link is followed, also
         *     to a file that does not exist yet. With `overwrite: false` an existing file or link is 409 FILE_ALREADY_EXISTS; a
         *     full disk is 413 DISK_FULL.
         */
        post: operations["writeFile"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/files/list": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List a directory
         * @description Sorted by name, at most 10,000 entries; `truncated` says when there were more.
         */
        get: operations["listFiles"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/files/exists": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Ask whether a path exists */
        get: operations["fileExists"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/files/remove": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post?: never;
        /**
         * Delete a file or a directory with all it holds
         * @description A symbolic link is deleted itself, never what it points to.
         */
        delete: operations["removeFile"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/files/mkdir": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Create a directory and its parents
         * @description A directory that exists already is no error.
         */
        post: operations["makeDirectory"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/files/rename": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Rename or move a file or directory
         * @description Parents of `new_path` are created. A symbolic link is moved itself. What is there already is only replaced with
         *     `overwrite`, and never when it is a directory. A directory can only be moved within its file system; `mv` as a
         *     command copies it to another.
         */
        post: operations["renameFile"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/files/stat": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Describe one file or directory
         * @description What a listing says of it. A symbolic link is described itself.
         */
        get: operations["statFile"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/files/upload": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Upload a file of any size
         * @description The body is streamed to disk. The file appears whole or not at all; if the upload breaks off, what was there
         *     stays. A symbolic link is followed, also to a file that does not exist yet. The destination is the `path` query parameter, else the form's `path` part, which
         *     may follow the file, else the file's own name in `/workspace`. A destination that is a directory or ends in `/`
         *     takes the file under its own name.
         *
         *     As an extension, the body may be the file itself, as `application/octet-stream`. It has no name then: its destination
         *     is the `path` query parameter, and no directory.
         */
        post: operations["uploadFile"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/files/download": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Download a file's bytes
         * @description With `Range`, only some of them; several ranges at once are answered with the whole file.
         */
        get: operations["downloadFile"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/files/watch": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Watch a directory over a WebSocket
         * @description The client sends one `watch` frame per directory; the server sends one `change` frame per change in it or in a
         *     directory below it, which symbolic links are not. With `ready: true` it tells when it has begun to watch:
         *     nothing that happens after that is missed. A new file is `created`, and `modified` too if it has content, as two
         *     changes. What comes and goes within a moment is told as `created` and `deleted`,
         *     once; what happens in a new directory before it is watched is told as it is found then. What cannot be watched, or
         *     was missed, is told in an `error` frame.
         */
        get: operations["watchFiles"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/env": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List environment variables
         * @description Values whose name looks secret (KEY, SECRET, PASSWORD, TOKEN, …) are shown as `***MASKED***`.
         */
        get: operations["getEnvironment"];
        /**
         * Replace all environment variables
         * @description Variables not named are removed. With `merge: true` it merges as PATCH does. `***MASKED***` as the value of an
         *     existing variable keeps the value it has.
         */
        put: operations["replaceEnvironment"];
        post?: never;
        /** Remove all environment variables */
        delete: operations["clearEnvironment"];
        options?: never;
        head?: never;
        /**
         * Add or change environment variables
         * @description Variables not named stay, whatever `merge` says. `***MASKED***` as the value of an existing variable keeps the
         *     value it has.
         */
        patch: operations["mergeEnvironment"];
        trace?: never;
    };
    "/env/{key}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post?: never;
        /**
         * Remove one environment variable
         * @description Removing a variable that is not set is no error.
         */
        delete: operations["deleteEnvironmentVariable"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/processes": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** List the processes of the sandbox */
        get: operations["listSystemProcesses"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/metrics": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Report counters and resource use */
        get: operations["getMetrics"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/metrics/snapshot": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Report counters and resource use at this moment */
        get: operations["getMetricsSnapshot"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/metrics/prometheus": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Report metrics in Prometheus' text format */
        get: operations["getPrometheusMetrics"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/cache/stats": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Report how the execution cache is used */
        get: operations["getCacheStats"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/cache/clear": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Empty the execution cache */
        post: operations["clearCache"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/jupyter/sessions": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** List interpreter sessions */
        get: operations["listJupyterSessions"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/jupyter/sessions/{kernel_id}": {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The `kernel_id` of a session. */
                kernel_id: string;
            };
            cookie?: never;
        };
        get?: never;
        put?: never;
        post?: never;
        /**
         * End an interpreter session
         * @description Ends its interpreter and the execution that runs in it. The next execution in the context starts another one.
         */
        delete: operations["deleteJupyterSession"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/jupyter/sessions/{kernel_id}/restart": {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The `kernel_id` of a session. */
                kernel_id: string;
            };
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Restart the interpreter of a session
         * @description Ends the execution that runs in it, and forgets all variables. The `kernel_id` stays. The first error about an unknown
         *     name says then that the context was restarted.
         */
        post: operations["restartJupyterSession"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/terminal": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Open an interactive shell over a WebSocket
         * @description A shell in a pseudo-terminal. The server sends `exit` with the shell's code, then closes. Closing the connection
         *     kills the shell and all that was started from it.
         *
         *     With `session`, a terminal outlives a connection that is lost, for 60 s: opening the same session again attaches to
         *     it. The first frame is then `attached`, and frames carry what a client needs to go on without loss: `output` tells
         *     its `position`, to be sent as `received` the next time, and `input` frames have a `number`, so that what was
         *     taken already is not typed again. A later connection takes the terminal over from an earlier one, which gets an
         *     error frame `TERMINAL_TAKEN_OVER`. The newest 256 KiB of output are kept. The terminal ends when its shell does
         *     (the last output and `exit` are kept for 60 s when nobody is attached), when it was alone for 60 s, with its
         *     sandbox, and when its connection is closed with code 1000, as it is by a client that does not need it any more.
         */
        get: operations["openTerminal"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/desktop/vnc/start": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Start the VNC server, by GET */
        get: operations["startVncByGet"];
        put?: never;
        /**
         * Start the VNC server
         * @description Also makes a new link to the live view. Earlier links stay valid until they expire, the 16 latest at most.
         */
        post: operations["startVnc"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/desktop/vnc/stop": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Stop the VNC server, by GET */
        get: operations["stopVncByGet"];
        put?: never;
        /**
         * Stop the VNC server
         * @description Ends all views, and makes their links invalid. The desktop goes on.
         */
        post: operations["stopVnc"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/desktop/vnc/status": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Report the VNC server's state */
        get: operations["getVncStatus"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/desktop/vnc/info": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Report the VNC server's state, other path */
        get: operations["getVncInfo"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/desktop/mouse/click": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Click */
        post: operations["clickMouse"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/desktop/mouse/move": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Move the pointer */
        post: operations["moveMouse"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/desktop/mouse/drag": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Drag from one point to another */
        post: operations["dragMouse"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/desktop/mouse/scroll": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Turn the wheel */
        post: operations["scrollMouse"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/desktop/keyboard/type": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Type text */
        post: operations["typeText"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/desktop/keyboard/press": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Press one key */
        post: operations["pressKey"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/desktop/keyboard/combination": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Press keys together */
        post: operations["pressKeyCombination"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/desktop/clipboard/get": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Read the clipboard */
        get: operations["getClipboard"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/desktop/clipboard/set": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Fill the clipboard */
        post: operations["setClipboard"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/desktop/clipboard/history": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** List what the clipboard held */
        get: operations["getClipboardHistory"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/desktop/screenshot": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Capture the screen, by GET */
        get: operations["takeScreenshotByGet"];
        put?: never;
        /** Capture the screen */
        post: operations["takeScreenshot"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/desktop/screenshot/region": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Capture a part of the screen */
        post: operations["takeRegionScreenshot"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/desktop/recording/start": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Start recording the screen */
        post: operations["startRecording"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/desktop/recording/stop": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Stop recording */
        post: operations["stopRecording"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/desktop/recording/status": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Report a recording's state */
        get: operations["getRecordingStatus"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/desktop/recording/download": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Download a recording */
        get: operations["downloadRecording"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/desktop/recording/{recording_id}/download": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Download a recording, by path */
        get: operations["downloadRecordingById"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/desktop/windows/list": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** List windows */
        get: operations["listWindows"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/desktop/windows": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** List windows, short path */
        get: operations["listWindowsShort"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/desktop/windows/focus": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Give a window the focus */
        post: operations["focusWindow"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/desktop/windows/close": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Close a window */
        post: operations["closeWindow"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/desktop/windows/resize": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Resize a window */
        post: operations["resizeWindow"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/desktop/windows/minimize": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Minimise a window */
        post: operations["minimizeWindow"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/desktop/display/current": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Report the display's size */
        get: operations["getDisplay"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/desktop/display/info": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Report the display's size, other path */
        get: operations["getDisplayInfo"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/desktop/display": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Report the display's size, short path */
        get: operations["getDisplayShort"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/desktop/display/available": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** List possible resolutions */
        get: operations["listResolutions"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/desktop/display/resolutions": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** List possible resolutions, other path */
        get: operations["listResolutionsAlias"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/desktop/display/set": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Set the resolution */
        post: operations["setResolution"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/desktop/display/resolution": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Set the resolution, other path */
        post: operations["setResolutionAlias"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/desktop/x11/ocr": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Read text off the screen */
        post: operations["recogniseText"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/desktop/x11/hotkey": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Press a hotkey */
        post: operations["pressHotkey"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/desktop/x11/drag-drop": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Drag something and drop it */
        post: operations["dragAndDrop"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/desktop/x11/drag_drop": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Drag something and drop it, other path */
        post: operations["dragAndDropAlias"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/desktop/x11/find_element": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Find text on the screen */
        post: operations["findElement"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/desktop/x11/wait_for": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Wait until text is on the screen */
        post: operations["waitForElement"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/desktop/x11/get_bounds": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Tell where text is on the screen */
        post: operations["getElementBounds"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/desktop/x11/capture_window": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Capture one window
         * @description The focused window when `window_id` is absent.
         */
        get: operations["captureWindow"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/desktop/browser": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Start a browser
         * @description Starts Chromium if it does not run, and makes a new address for its DevTools protocol.
         */
        post: operations["startBrowser"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/desktop/debug/logs": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Read the desktop's log */
        get: operations["getDesktopLogs"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/desktop/debug/processes": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** List the desktop's processes */
        get: operations["listDesktopProcesses"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/update/upload": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Upload a new agent */
        post: operations["uploadUpdate"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/update/apply": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Put the uploaded agent in place */
        post: operations["applyUpdate"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/update/restart": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Restart the agent */
        post: operations["restartAgent"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/update/backups": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** List earlier agents that were kept */
        get: operations["listUpdateBackups"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
}
export type webhooks = Record<string, never>;
export interface components {
    schemas: {
        /**
         * @description What every error answer holds. Codes: AUTHENTICATION_REQUIRED, INVALID_TOKEN, TOKEN_EXPIRED,
         *     METHOD_NOT_ALLOWED, NOT_FOUND, INVALID_JSON, INVALID_REQUEST, MISSING_PARAMETER, PAYLOAD_TOO_LARGE,
         *     INVALID_PATH, PATH_NOT_ALLOWED, PERMISSION_DENIED, FILE_NOT_FOUND, DIRECTORY_NOT_FOUND, FILE_ALREADY_EXISTS,
         *     FILE_OPERATION_FAILED, FILE_TOO_LARGE, DISK_FULL, COMMAND_FAILED, EXECUTION_FAILED, EXECUTION_TIMEOUT,
         *     LANGUAGE_NOT_AVAILABLE, RESOURCE_EXHAUSTED, PROCESS_NOT_FOUND, DESKTOP_NOT_AVAILABLE, INTERNAL_ERROR, and the
         *     gateway's SANDBOX_NOT_FOUND, SANDBOX_EXPIRED, SERVICE_UNAVAILABLE, RATE_LIMIT_EXCEEDED. Others may come; treat
         *     an unknown one by its status.
         */
        ErrorResponse: {
            /** @description What is wrong and how to mend it. */
            error: string;
            /** @description The same as `error`. */
            message?: string;
            /** @description What to do next. `error` ends with it. */
            hint?: string;
            /**
             * @description The kind of error in UPPER_SNAKE_CASE.
             * @example FILE_NOT_FOUND
             */
            code?: string;
            /** @description The request's id; quote it when asking for help. */
            request_id?: string;
            /** Format: date-time */
            timestamp?: string;
            /** @description The path the error is about. */
            path?: string;
            /** @description Facts for programs. */
            details?: {
                [key: string]: unknown;
            };
        };
        /** @description Names are letters, digits and `_`, not starting with a digit. At most 1,000 variables of 32 KiB each. */
        EnvironmentVariables: {
            [key: string]: string;
        };
        /**
         * @description The language of `code`: `python` (also `python3`), `javascript` (`js`, `node`, `nodejs`), `bash` (`sh`, `shell`)
         *     or `go`. A name the agent does not know is 400 INVALID_REQUEST; one its template lacks is 400
         *     LANGUAGE_NOT_AVAILABLE.
         * @example python
         * @example javascript
         * @example bash
         * @example go
         */
        Language: string;
        /** @description Where the program runs. When absent, in the directory that the template's WORKDIR names, `/workspace` if it has none; a relative path starts there too. HOPX's clients send `/workspace` when their caller names no directory, so exactly that text means the same; `/workspace/` means `/workspace` also where the template has a WORKDIR. */
        WorkingDirectory: string | null;
        /**
         * @description Seconds the program may run, 1 to 300, then it is killed. 30 when absent.
         * @default 30
         */
        ExecutionTimeout: number;
        /**
         * @description `exit`: it ended by itself. `timeout`: over its limit, exit code 124. `out_of_memory`: over the sandbox's
         *     memory, exit code 137. `killed`: ended on request. `signal`: a signal ended it, exit code 128 + signal.
         *     `interrupted`: the agent was killed while it ran, and it with the agent, exit code 137.
         * @enum {string}
         */
        TerminationReason: "exit" | "timeout" | "out_of_memory" | "killed" | "signal" | "interrupted";
        /** @description How a program ended, and how much of its output the answer holds. */
        Outcome: {
            /**
             * @description The execution's, which its program finds as `CLOUD_SANDBOX_EXECUTION_ID`. Of a background execution it is the
             *     `process_id` too, and what a report to a webhook names.
             */
            execution_id?: string;
            termination_reason?: components["schemas"]["TerminationReason"];
            exception?: components["schemas"]["CodeException"];
            /** @description The interpreter ended during this execution or since the previous one: the variables of its context are gone. */
            context_lost?: boolean;
            /** @description Bytes written to stdout in all. */
            stdout_bytes?: number;
            /** @description Bytes written to stderr in all. */
            stderr_bytes?: number;
            /** @description `stdout` holds head and tail only; a line between them says how much is missing. */
            stdout_truncated?: boolean;
            /** @description `stderr` holds head and tail only; a line between them says how much is missing. */
            stderr_truncated?: boolean;
            /** @description Path of the full output in the sandbox, when `stdout` was cut. */
            stdout_file?: string;
            /** @description Path of the full output in the sandbox, when `stderr` was cut. */
            stderr_file?: string;
        };
        /** @description The exception that ended Python or JavaScript code. Each text has at most 65,536 characters, the rest is cut off. */
        CodeException: {
            /**
             * @description The name of its class.
             * @example ValueError
             */
            name: string;
            /** @description Its message. */
            value: string;
            /** @description What stderr says of it. */
            traceback: string;
        };
        /** @description The code's standard input, empty when absent. With it, the code runs in a process of its own, without a context. */
        CodeInput: string;
        ExecuteRequest: {
            /** @description The program's text. */
            code: string;
            /** @default python */
            language?: components["schemas"]["Language"];
            timeout?: components["schemas"]["ExecutionTimeout"];
            workdir?: components["schemas"]["WorkingDirectory"];
            /** @description Another spelling of `workdir`, which wins when both are given. */
            working_dir?: components["schemas"]["WorkingDirectory"];
            /** @description Variables of this execution only; they win over the sandbox's. */
            env?: components["schemas"]["EnvironmentVariables"] | null;
            context?: components["schemas"]["ContextName"];
            filename?: components["schemas"]["ProgramFilename"];
            stdin?: components["schemas"]["CodeInput"];
            /**
             * @description The code depends on nothing but itself, its variables and its directory's path: the outcome of the same
             *     execution may be given instead. It runs in a process of its own, without a context. Kept are successes
             *     whose output was not cut: 256 of them, 16 MiB in all, an hour each. `/cache/clear` forgets them.
             * @default false
             */
            cache?: boolean;
        };
        /**
         * @description The name of the code's file, in the working directory, for Python, JavaScript and bash: error messages and the program's own name have it. Code that
         *     runs in a process of its own is written there unless the file exists.
         */
        ProgramFilename: string;
        /**
         * @description Names the context whose variables the code sees and leaves; the language has one by default. At most 8 are
         *     alive in a sandbox: of more, the idle one that was used least recently ends, with its variables, which
         *     `context_lost` tells in the answer to the next execution there. bash and go have none.
         */
        ContextName: string | null;
        ExecuteResponse: {
            /** @description `exit_code` is 0. */
            success: boolean;
            /** @description UTF-8; bytes that are not become U+FFFD. At most 1 MiB: head and tail. */
            stdout: string;
            /** @description UTF-8; bytes that are not become U+FFFD. At most 1 MiB: head and tail. */
            stderr: string;
            exit_code: number;
            /** @description Seconds from start to end. */
            execution_time: number;
            /**
             * Format: date-time
             * @description When it ended.
             */
            timestamp?: string;
            /** @description The language's main name. */
            language?: string;
            /** @description The last expression's value as text. */
            result?: string;
            /** @description The first plot. */
            png?: string;
            /** @description The first displayed HTML. */
            html?: string;
            /** @description The first displayed SVG. */
            svg?: string;
            /** @description The first displayed Markdown. */
            markdown?: string;
            /** @description The first displayed LaTeX. */
            latex?: string;
            /** @description With `cache`: whether the outcome is that of an earlier execution. */
            cached?: boolean;
            /** @description Displayed values left out: beyond 64 of them, or 8 MiB. */
            rich_outputs_dropped?: number;
            /** @description The first displayed JSON. */
            json?: {
                [key: string]: unknown;
            } | unknown[];
        } & components["schemas"]["Outcome"];
        /** @description One displayed value. */
        RichOutput: {
            /**
             * @description A MIME type.
             * @example image/png
             * @example text/html
             * @example application/json
             */
            type: string;
            /**
             * @description How `data` is written.
             * @example base64
             * @example html
             * @example json
             */
            format?: string;
            /** @description Text, base64, or a JSON value, as `format` says. */
            data?: unknown;
            /** @description Where the value is a file in the sandbox. */
            path?: string;
            metadata?: {
                source?: string;
                filename?: string;
                /** @description Bytes. */
                size?: number;
            } & {
                [key: string]: unknown;
            };
        };
        ExecuteRichRequest: {
            /**
             * @description `false` leaves `rich_outputs` empty.
             * @default true
             */
            capture_rich?: boolean;
        } & components["schemas"]["ExecuteRequest"];
        ExecuteRichResponse: {
            /** @description Everything displayed, in order. */
            rich_outputs?: components["schemas"]["RichOutput"][];
        } & components["schemas"]["ExecuteResponse"];
        ExecuteIpythonRequest: {
            /** @description The cell's text. */
            code: string;
            timeout?: components["schemas"]["ExecutionTimeout"];
            workdir?: components["schemas"]["WorkingDirectory"];
            /** @description Another spelling of `workdir`, which wins when both are given. */
            working_dir?: components["schemas"]["WorkingDirectory"];
            env?: components["schemas"]["EnvironmentVariables"] | null;
            context?: components["schemas"]["ContextName"];
        };
        BackgroundExecuteRequest: {
            /** @description The program's text. */
            code: string;
            /** @default python */
            language?: components["schemas"]["Language"];
            /**
             * @description Seconds the execution may run.
             * @default 300
             */
            timeout?: number;
            /** @description Variables of this execution only. */
            env?: components["schemas"]["EnvironmentVariables"] | null;
            /** @description A name for people. */
            name?: string | null;
            /**
             * @description Names the context whose variables the execution sees and leaves, as for `/execute`. It waits there for its turn,
             *     and is answered when that comes. Without it the execution has a process of its own; so have bash and go.
             */
            context?: string | null;
            filename?: components["schemas"]["ProgramFilename"];
            stdin?: components["schemas"]["CodeInput"];
            workdir?: components["schemas"]["WorkingDirectory"];
            /** @description Another spelling of `workdir`, which wins when both are given. */
            working_dir?: components["schemas"]["WorkingDirectory"];
        };
        BackgroundExecuteResponse: {
            /** @description The execution's handle. */
            process_id: string;
            /** @description As `process_id`. */
            execution_id?: string;
            /** @example running */
            status?: string;
            /** Format: date-time */
            start_time?: string;
            message?: string;
            name?: string;
        };
        AsyncExecuteRequest: {
            /** @description The program's text. */
            code: string;
            /**
             * Format: uri
             * @description Where the result is sent by POST.
             */
            callback_url: string;
            /** @description Headers of that request. */
            callback_headers?: {
                [key: string]: string;
            } | null;
            /** @description Signs that request. */
            callback_signature_secret?: string | null;
            /** @default python */
            language?: components["schemas"]["Language"];
            /**
             * @description Seconds the execution may run.
             * @default 3600
             */
            timeout?: number;
            workdir?: components["schemas"]["WorkingDirectory"];
            /** @description Another spelling of `workdir`, which wins when both are given. */
            working_dir?: components["schemas"]["WorkingDirectory"];
            /** @description Variables of this execution only. */
            env?: components["schemas"]["EnvironmentVariables"] | null;
            /** @description A name for people. */
            name?: string | null;
        };
        AsyncExecuteResponse: {
            /** @description The execution's handle, and what the report names. */
            execution_id: string;
            /** @description As `execution_id`. */
            process_id?: string;
            /** @example queued */
            status?: string;
            /** Format: uri */
            callback_url?: string;
            message?: string;
            /** Format: date-time */
            timestamp?: string;
        };
        /** @description A background execution. */
        ProcessInfo: {
            process_id?: string;
            execution_id?: string;
            name?: string;
            /**
             * @description running, completed, failed or killed.
             * @example running
             */
            status?: string;
            language?: string;
            /** Format: date-time */
            start_time?: string;
            /**
             * Format: date-time
             * @description Absent while it runs.
             */
            end_time?: string;
            /** @description Absent while it runs. */
            exit_code?: number;
            /** @description Seconds so far, or in all. */
            duration?: number;
            pid?: number;
            /**
             * Format: date-time
             * @description Another spelling of `start_time`.
             */
            started_at?: string;
            /**
             * Format: date-time
             * @description Another spelling of `end_time`.
             */
            completed_at?: string;
            /** @description Absent while it runs. */
            termination_reason?: components["schemas"]["TerminationReason"];
            /** @description Why it ended, where that is no doing of its own. */
            error?: string;
            /** @description Bytes written to stdout so far. */
            stdout_bytes?: number;
            /** @description Bytes written to stderr so far. */
            stderr_bytes?: number;
        };
        /**
         * @description A piece of each output of a background execution, as UTF-8. Bytes that are not become U+FFFD in `stdout` and
         *     `stderr`; `stdout_base64` and `stderr_base64` have them unchanged. Offsets count bytes of the output, not of the text.
         */
        ProcessOutputResponse: {
            process_id: string;
            execution_id?: string;
            /**
             * @description running, completed, failed or killed.
             * @example running
             */
            status: string;
            /** @description Absent while it runs. */
            exit_code?: number;
            /** @description Absent while it runs. */
            termination_reason?: components["schemas"]["TerminationReason"];
            /** @description Seconds so far, or in all. */
            duration?: number;
            /** @description Why it ended, where that is no doing of its own. */
            error?: string;
            stdout: string;
            /** @description The bytes of `stdout`, when they are not UTF-8. */
            stdout_base64?: string;
            /** @description Where `stdout` begins. */
            stdout_start: number;
            /** @description Where to go on. */
            stdout_offset: number;
            /** @description Bytes written to stdout so far. */
            stdout_bytes: number;
            stderr: string;
            /** @description The bytes of `stderr`, when they are not UTF-8. */
            stderr_base64?: string;
            /** @description Where `stderr` begins. */
            stderr_start: number;
            /** @description Where to go on. */
            stderr_offset: number;
            /** @description Bytes written to stderr so far. */
            stderr_bytes: number;
            /** @description It has ended and nothing is left to read. */
            complete: boolean;
            /** @description Path in the sandbox of all that is kept of stdout. */
            stdout_file?: string;
            /** @description Path in the sandbox of all that is kept of stderr. */
            stderr_file?: string;
            /** @description The variables of its context are gone. */
            context_lost?: boolean;
            exception?: components["schemas"]["CodeException"];
            /** @description The last expression's value as text. */
            result?: string;
            /** @description Everything displayed, in order. */
            rich_outputs?: components["schemas"]["RichOutput"][];
            /** @description Displayed values left out: beyond 64 of them, or 8 MiB. */
            rich_outputs_dropped?: number;
            /** Format: date-time */
            timestamp?: string;
        };
        ProcessListResponse: {
            processes: components["schemas"]["ProcessInfo"][];
            count?: number;
            /** Format: date-time */
            timestamp?: string;
        };
        KillResponse: {
            success?: boolean;
            message?: string;
            process_id?: string;
            /** @example killed */
            status?: string;
            /** Format: date-time */
            timestamp?: string;
        };
        CommandRequest: {
            /** @description A program when there are `args`, else a line for the shell. */
            command: string;
            /** @description The program's arguments, taken literally. */
            args?: string[] | null;
            timeout?: components["schemas"]["ExecutionTimeout"];
            workdir?: components["schemas"]["WorkingDirectory"];
            /** @description Another spelling of `workdir`, which wins when both are given. */
            working_dir?: components["schemas"]["WorkingDirectory"];
            /** @description Variables of this command only; they win over the sandbox's. */
            env?: components["schemas"]["EnvironmentVariables"] | null;
        };
        CommandResponse: {
            /** @description `exit_code` is 0. */
            success: boolean;
            /** @description UTF-8; bytes that are not become U+FFFD. At most 1 MiB: head and tail. */
            stdout: string;
            /** @description UTF-8; bytes that are not become U+FFFD. At most 1 MiB: head and tail. */
            stderr: string;
            exit_code: number;
            /** @description Seconds from start to end. */
            execution_time: number;
            /** @description The command as it was given. */
            command?: string;
            pid?: number;
            /**
             * Format: date-time
             * @description When it ended.
             */
            timestamp?: string;
        } & components["schemas"]["Outcome"];
        BackgroundCommandRequest: {
            /** @description A program when there are `args`, else a line for the shell. */
            command: string;
            /** @description The program's arguments, taken literally. */
            args?: string[] | null;
            /**
             * @description Seconds the command may run.
             * @default 300
             */
            timeout?: number;
            workdir?: components["schemas"]["WorkingDirectory"];
            /** @description Another spelling of `workdir`, which wins when both are given. */
            working_dir?: components["schemas"]["WorkingDirectory"];
            /** @description Variables of this command only; they win over the sandbox's. */
            env?: components["schemas"]["EnvironmentVariables"] | null;
            /** @description A name for people. */
            name?: string | null;
        };
        BackgroundCommandResponse: {
            /** @description The command's handle; starts with `cmd_`. */
            process_id: string;
            execution_id?: string;
            /** @example running */
            status?: string;
            /** Format: date-time */
            start_time?: string;
            message?: string;
            name?: string;
            pid?: number;
            /** @description Empty: nothing is waited for. `GET /execute/processes/{process_id}/output` has what the command writes. */
            stdout?: string;
            /** @description Empty, as `stdout`. */
            stderr?: string;
        };
        /** @description One entry of a directory. Where clients disagree on a name, both are sent. */
        FileInfo: {
            name: string;
            /** @description Absolute. */
            path: string;
            /** @description Bytes. */
            size: number;
            is_directory: boolean;
            /** Format: date-time */
            modified_time?: string;
            /**
             * @description As `ls -l` writes them.
             * @example -rw-r--r--
             */
            permissions?: string;
            /** @description Another spelling of `is_directory`. */
            is_dir?: boolean;
            /**
             * Format: date-time
             * @description Another spelling of `modified_time`.
             */
            modified?: string;
            /**
             * @description The permissions in octal.
             * @example 0644
             */
            mode?: string;
            /** @description The entry is a symbolic link. */
            is_symlink?: boolean;
        };
        FileListResponse: {
            /** @description `null` or null entries come from some servers and mean nothing is there. */
            files: (components["schemas"]["FileInfo"] | null)[] | null;
            /** @description Absolute. */
            path: string;
            /** @description Entries in `files`. */
            count?: number;
            /** @description There are more entries than `files` holds. */
            truncated?: boolean;
            /** @description Entries in the directory. */
            total?: number;
        };
        FileContentResponse: {
            /** @description The text; bytes that are not UTF-8 become U+FFFD. */
            content: string;
            /** @description Absolute. */
            path: string;
            /** @description Bytes. */
            size: number;
        };
        FileExistsResponse: {
            exists: boolean;
            /** @description Absolute. */
            path: string;
            /** @description Absent when nothing is there. */
            is_directory?: boolean;
        };
        FileRenameRequest: {
            /** @description What to move. */
            path: string;
            /** @description Its path afterwards, not the directory to put it in. */
            new_path: string;
            /**
             * @description Replace a file that has the new path.
             * @default false
             */
            overwrite?: boolean;
        };
        FileResponse: {
            success?: boolean;
            message?: string;
            /** @description Absolute. */
            path?: string;
            /** @description Bytes. */
            size?: number;
            /** Format: date-time */
            timestamp?: string;
        };
        FileWriteRequest: {
            /** @description The destination. */
            path: string;
            /** @description The text, or the bytes in base64 when `encoding` says so. */
            content: string;
            /**
             * @description `base64` for bytes; absent for text.
             * @enum {string}
             */
            encoding?: "base64";
            /** @description Permissions in octal. Default: those of the file that is replaced, `0644` for a new one. */
            mode?: string;
            /**
             * @description `false` refuses to replace an existing file.
             * @default true
             */
            overwrite?: boolean;
        };
        MakeDirectoryRequest: {
            /** @description The directory. */
            path: string;
        } & {
            [key: string]: string;
        };
        FileUploadForm: {
            /**
             * Format: binary
             * @description The bytes.
             */
            file: Blob | Uint8Array;
            /** @description The destination. */
            path?: string;
        };
        EnvVarsResponse: {
            env_vars: components["schemas"]["EnvironmentVariables"];
            count?: number;
            /** Format: date-time */
            timestamp?: string;
            /**
             * @description Of GET: what every program gets where no variable says otherwise, such as PATH, HOME and LANG. `env_vars` has these too there.
             *     They are not counted, and no operation changes them.
             */
            inherited?: {
                [key: string]: string;
            };
        };
        EnvVarsSetRequest: {
            env_vars: components["schemas"]["EnvironmentVariables"];
            /**
             * @description For PUT: keep variables that are not named.
             * @default false
             */
            merge?: boolean;
            /** @description When the client made the request; informative. */
            timestamp?: string;
        };
        SystemProcess: {
            pid: number;
            name?: string;
            /**
             * @example running
             * @example sleeping
             * @example zombie
             */
            status?: string;
            /** @description Of one core, averaged over the process's life. */
            cpu_percent?: number;
            /** @description Resident memory. */
            memory_mb?: number;
            command?: string;
            user?: string;
            ppid?: number;
        };
        SystemProcessListResponse: {
            processes: components["schemas"]["SystemProcess"][];
            count?: number;
            /** Format: date-time */
            timestamp?: string;
            /** @description There are more processes than are listed. */
            truncated?: boolean;
        };
        Banner: {
            agent?: string;
            /** @example running */
            status?: string;
            version?: string;
            /** @description The sandbox's id. */
            vm_id?: string;
            message?: string;
            /** Format: date-time */
            timestamp?: string;
        };
        Pong: {
            /** @example ok */
            status?: string;
            /** @example pong */
            message?: string;
            /** Format: date-time */
            timestamp?: string;
        } & {
            [key: string]: string;
        };
        AgentFeatures: {
            code_execution?: boolean;
            file_operations?: boolean;
            terminal_access?: boolean;
            websocket_streaming?: boolean;
            rich_output?: boolean;
            background_jobs?: boolean;
            ipython_kernel?: boolean;
            system_metrics?: boolean;
            desktop?: boolean;
            /** @description Languages whose interpreter is installed. */
            languages?: string[];
        };
        AgentHealth: {
            /**
             * @description `healthy` when ready for work.
             * @example healthy
             */
            status: string;
            agent?: string;
            version?: string;
            /**
             * @description For people.
             * @example 2h34m12s
             */
            uptime?: string;
            /** @description The Go toolchain the sandbox has; empty without one. */
            go_version?: string;
            /** @description The sandbox's id. */
            vm_id?: string;
            features?: components["schemas"]["AgentFeatures"];
            /** @description Open WebSockets. */
            active_streams?: number;
            /** @description Programs running now. */
            active_executions?: number;
        };
        AgentInfo: {
            /** @description The sandbox's id. */
            vm_id?: string;
            agent?: string;
            version?: string;
            /** @description The same as `version`. */
            agent_version?: string;
            /** @example linux/x64 */
            platform?: string;
            /** @example linux */
            os?: string;
            /** @example x64 */
            arch?: string;
            /** @description The address the agent listens on; empty on a Unix socket. */
            ip?: string;
            /** @description The port the agent listens on; empty on a Unix socket. */
            port?: string;
            /** @description The same as `ip`. */
            vm_ip?: string;
            /** @description The same as `port`. */
            vm_port?: string;
            /** Format: date-time */
            start_time?: string;
            /** @description Seconds. */
            uptime?: number | string;
            /** @description The Go toolchain the sandbox has; empty without one. */
            go_version?: string;
            /** @description Operation ids served here, with method and path. */
            endpoints?: {
                [key: string]: string;
            };
            features?: components["schemas"]["AgentFeatures"];
            /** @description The template the sandbox was made from. */
            template?: string;
            /** @description What the sandbox may use; absent fields are not limited. */
            limits?: {
                memory_mb?: number;
                disk_mb?: number;
                max_processes?: number;
            };
        };
        SystemInfo: {
            os?: {
                name?: string;
                version?: string;
                kernel?: string;
                arch?: string;
                hostname?: string;
                timezone?: string;
            };
            hardware?: {
                cpu_cores?: number;
                cpu_model?: string;
                /** @description The sandbox's limit, else the machine's memory. */
                memory_mb?: number;
                /** @description Size of the file system that holds `/workspace`. */
                disk_mb?: number;
            };
            network?: {
                hostname?: string;
                interfaces?: {
                    name?: string;
                    address?: string;
                    /** @example IPv4 */
                    family?: string;
                }[];
            };
            /** @description Facts about the agent's surroundings; never the variables of `/env`. */
            environment?: {
                [key: string]: string;
            };
            capabilities?: string[];
            /** @description Of all cores the sandbox may use, since the last question. */
            cpu_percent?: number;
            /** @description Of `hardware.memory_mb`. */
            memory_percent?: number;
            /** @description Of `hardware.disk_mb`. */
            disk_percent?: number;
            memory_used_mb?: number;
            disk_used_mb?: number;
            process_count?: number;
            uptime_seconds?: number;
            /** Format: date-time */
            timestamp?: string;
        };
        MetricsSnapshot: {
            uptime_seconds?: number;
            total_executions?: number;
            active_executions?: number;
            /** @description Executions that failed. */
            error_count?: number;
            /** @description By endpoint, the requests that were answered with success and those with an error; other numbers from some servers. */
            requests_total?: {
                [key: string]: {
                    success?: number;
                    error?: number;
                } | number;
            } | number;
            /** @description By endpoint. */
            avg_duration_ms?: {
                [key: string]: number;
            };
            /** @description By endpoint, over the latest requests; a single number from some servers. */
            p95_duration_ms?: {
                [key: string]: number;
            } | number;
            total_requests?: number;
            /** @description Requests answered with 4xx or 5xx. */
            total_errors?: number;
            system?: {
                cpu?: {
                    usage_percent?: number;
                };
                memory?: {
                    usage_percent?: number;
                    used_mb?: number;
                    total_mb?: number;
                };
                disk?: {
                    usage_percent?: number;
                    used_mb?: number;
                    total_mb?: number;
                };
            };
            process?: {
                count?: number;
            };
            cache?: {
                size?: number;
            };
            /** Format: date-time */
            timestamp?: string;
        };
        CacheStats: {
            /** @description Entries held. */
            size?: number;
            /** @description Entries it may hold. */
            max_size?: number;
            total_hits?: number;
            /** @description Seconds an entry lives. */
            ttl?: number;
            hits?: number;
            misses?: number;
            hit_rate?: number;
        };
        CacheStatsResponse: {
            cache?: components["schemas"]["CacheStats"];
            /** Format: date-time */
            timestamp?: string;
        };
        CacheClearResponse: {
            success?: boolean;
            message?: string;
            entries_removed?: number;
            /** Format: date-time */
            timestamp?: string;
        };
        JupyterSession: {
            kernel_id?: string;
            /**
             * @example idle
             * @example busy
             */
            execution_state?: string;
            /** @description Executions that run or wait in it. */
            connections?: number;
            /** Format: date-time */
            last_activity?: string;
            language?: string;
            /** @description The context's name. */
            context?: string;
        };
        JupyterSessionsResponse: {
            sessions?: components["schemas"]["JupyterSession"][];
            count?: number;
            /** Format: date-time */
            timestamp?: string;
        };
        ExecuteStreamRequest: {
            /** @constant */
            type: "execute";
            code: string;
            /** @default python */
            language?: components["schemas"]["Language"];
            timeout?: components["schemas"]["ExecutionTimeout"];
            workdir?: components["schemas"]["WorkingDirectory"];
            working_dir?: components["schemas"]["WorkingDirectory"];
            env?: components["schemas"]["EnvironmentVariables"] | null;
            context?: components["schemas"]["ContextName"];
            filename?: components["schemas"]["ProgramFilename"];
            stdin?: components["schemas"]["CodeInput"];
            /**
             * @description Whether `result` tells of displayed values however large they are; only of those that fit in 512 KiB together
             *     when absent, since some clients take no large frames.
             */
            capture_rich?: boolean;
        };
        /** @description Ends the program; `result` tells that it was killed. */
        CancelFrame: {
            /** @constant */
            type: "cancel";
        };
        ExecuteStreamClientFrame: components["schemas"]["ExecuteStreamRequest"] | components["schemas"]["CancelFrame"];
        CommandStreamRequest: {
            /**
             * @default execute
             * @enum {string}
             */
            type?: "execute" | "command";
            command: string;
            args?: string[] | null;
            /**
             * @description Seconds the command may run, then it is killed. 30 when absent. More than 300 is an addition of this contract, for
             *     programs that talk over their standard input for as long as a session lasts.
             * @default 30
             */
            timeout?: number;
            workdir?: components["schemas"]["WorkingDirectory"];
            working_dir?: components["schemas"]["WorkingDirectory"];
            env?: components["schemas"]["EnvironmentVariables"] | null;
            /**
             * @description Whether `stdin` frames may follow. Without them the command reads an empty input.
             * @default true
             */
            stdin?: boolean;
        };
        StdinFrame: {
            /** @constant */
            type: "stdin";
            data: string;
            /**
             * @description What `data` is.
             * @default utf-8
             * @enum {string}
             */
            encoding?: "utf-8" | "base64";
        };
        /** @description The command has read all of its input. */
        StdinCloseFrame: {
            /** @constant */
            type: "stdin_close";
        };
        /** @description For the command and what it started in its process group. */
        SignalFrame: {
            /** @constant */
            type: "signal";
            /** @enum {string} */
            signal: "SIGHUP" | "SIGINT" | "SIGQUIT" | "SIGKILL" | "SIGTERM" | "SIGUSR1" | "SIGUSR2" | "SIGSTOP" | "SIGCONT" | "SIGWINCH";
        };
        CommandStreamClientFrame: components["schemas"]["CommandStreamRequest"] | components["schemas"]["StdinFrame"] | components["schemas"]["StdinCloseFrame"] | components["schemas"]["SignalFrame"] | components["schemas"]["CancelFrame"];
        OutputFrame: {
            /** @enum {string} */
            type: "stdout" | "stderr";
            data: string;
            /** @description The bytes, when they are not UTF-8. `data` has U+FFFD in place of those that are no text. */
            base64?: string;
            /** Format: date-time */
            timestamp?: string;
            /** @description Bytes between this piece and the one before that were no longer kept when their turn came. */
            skipped_bytes?: number;
        };
        ResultFrame: {
            /** @constant */
            type: "result";
            exit_code: number;
            /** @description Seconds. */
            execution_time?: number;
            /** Format: date-time */
            timestamp?: string;
            /** @description The last expression's value as text. */
            result?: string;
            /** @description What the code displayed, in order. */
            rich_outputs?: components["schemas"]["RichOutput"][];
            /** @description Displayed values left out because they are too many or too large. */
            rich_outputs_dropped?: number;
        } & components["schemas"]["Outcome"];
        ErrorFrame: {
            /** @constant */
            type: "error";
            error: string;
            /** @description The same as `error`. */
            message?: string;
            /** @description What to do next. `error` ends with it. */
            hint?: string;
            code?: string;
            /** @description What it is about, when it is about a path. */
            path?: string;
            /** Format: date-time */
            timestamp?: string;
        };
        CompleteFrame: {
            /** @constant */
            type: "complete";
            success: boolean;
        };
        ExecuteStreamFrame: components["schemas"]["OutputFrame"] | components["schemas"]["ResultFrame"] | components["schemas"]["ErrorFrame"] | components["schemas"]["CompleteFrame"];
        TerminalInputFrame: {
            /** @constant */
            type: "input";
            data: string;
            /**
             * @description Number of this frame in its session, from 1 and rising. A frame whose number was taken already is passed over, so a
             *     client sends again what it has no receipt for.
             */
            number?: number;
        };
        TerminalResizeFrame: {
            /** @constant */
            type: "resize";
            cols: number;
            rows: number;
        };
        TerminalClientFrame: components["schemas"]["TerminalInputFrame"] | components["schemas"]["TerminalResizeFrame"];
        /** @description The first frame of each connection to a terminal with `session`. */
        TerminalAttachedFrame: {
            /** @constant */
            type: "attached";
            /** @description Seconds for which the terminal outlives a lost connection. */
            kept_seconds: number;
            /** @description Number of the last `input` frame that was taken, 0 when there was none. */
            taken: number;
            /** @description Bytes of output after `received` that are no longer kept. */
            skipped_bytes: number;
        };
        TerminalOutputFrame: {
            /** @constant */
            type: "output";
            /** @description Empty when the frame is only a receipt for input, with `session`. */
            data: string;
            /** @description With `session`: bytes of output from the terminal's start to the end of `data`. */
            position?: number;
            /** @description With `session`: number of the last `input` frame that was taken. */
            taken?: number;
        };
        TerminalExitFrame: {
            /** @constant */
            type: "exit";
            code: number;
        };
        TerminalServerFrame: components["schemas"]["TerminalAttachedFrame"] | components["schemas"]["TerminalOutputFrame"] | components["schemas"]["TerminalExitFrame"] | components["schemas"]["ErrorFrame"];
        WatchRequest: {
            /** @constant */
            action: "watch";
            path: string;
            /**
             * @description Whether to tell when watching has begun.
             * @default false
             */
            ready?: boolean;
        };
        /** @description Ends the watching of a path that was asked for. */
        UnwatchRequest: {
            /** @constant */
            action: "unwatch";
            path: string;
        };
        WatchClientFrame: components["schemas"]["WatchRequest"] | components["schemas"]["UnwatchRequest"];
        ReadyFrame: {
            /** @constant */
            type: "ready";
            path: string;
            /** Format: date-time */
            timestamp?: string;
        };
        WatchFrame: components["schemas"]["ChangeFrame"] | components["schemas"]["ReadyFrame"] | components["schemas"]["ErrorFrame"];
        ChangeFrame: {
            /** @constant */
            type: "change";
            path: string;
            /** @enum {string} */
            event: "created" | "modified" | "deleted" | "renamed";
            /** @description Of what was renamed, its name before. */
            old_path?: string;
            /** Format: date-time */
            timestamp?: string;
        };
        DesktopActionResponse: {
            success?: boolean;
            message?: string;
            /** Format: date-time */
            timestamp?: string;
        };
        VncStartRequest: {
            /**
             * @description Ignored. A sandbox has one display.
             * @default 1
             */
            display?: number;
            /** @description What viewers must enter, instead of a token in `url`. At least 6 characters. */
            password?: string | null;
            /**
             * @description Viewers of this link cannot use mouse and keyboard.
             * @default false
             */
            view_only?: boolean;
            /**
             * @description Seconds until the link expires. Views that are open then are closed.
             * @default 3600
             */
            expires_in?: number;
        };
        VncStatus: {
            running?: boolean;
            display?: number | string;
            /** @description Port in the sandbox that serves the view. */
            port?: number;
            /** @description Link to the view, to open in a browser. Whoever has it sees the desktop. */
            url?: string;
            view_only?: boolean;
            /** Format: date-time */
            expires_at?: string;
        };
        /**
         * @default left
         * @enum {string}
         */
        MouseButton: "left" | "middle" | "right";
        /** @description Pixels from the left or from the top. */
        ScreenPosition: number;
        MouseClickRequest: {
            x: components["schemas"]["ScreenPosition"];
            y: components["schemas"]["ScreenPosition"];
            button?: components["schemas"]["MouseButton"];
            /** @default 1 */
            clicks?: number;
        };
        MouseMoveRequest: {
            x: components["schemas"]["ScreenPosition"];
            y: components["schemas"]["ScreenPosition"];
        };
        MouseDragRequest: {
            from_x: components["schemas"]["ScreenPosition"];
            from_y: components["schemas"]["ScreenPosition"];
            to_x: components["schemas"]["ScreenPosition"];
            to_y: components["schemas"]["ScreenPosition"];
            button?: components["schemas"]["MouseButton"];
        };
        /** @description Either `delta_y`, negative upwards, or `amount` with `direction`. */
        MouseScrollRequest: {
            x?: components["schemas"]["ScreenPosition"];
            y?: components["schemas"]["ScreenPosition"];
            /** @description Pixels; 100 are a notch of the wheel. */
            delta_y?: number;
            /** @description Notches of the wheel. */
            amount?: number;
            /**
             * @default down
             * @enum {string}
             */
            direction?: "up" | "down" | "left" | "right";
        };
        KeyboardTypeRequest: {
            text: string;
            /** @description Between two keys. */
            delay_ms?: number;
        };
        KeyboardPressRequest: {
            key: string;
        };
        /** @description Either `keys`, or `modifiers` with `key`. */
        KeyboardCombinationRequest: {
            keys?: string[];
            modifiers?: string[];
            key?: string;
        };
        HotkeyRequest: {
            modifiers: string[];
            key: string;
        };
        Clipboard: {
            content?: string;
            /** @description The same as `content`. */
            text?: string;
        };
        /** @description Either spelling. */
        ClipboardSetRequest: {
            content?: string;
            text?: string;
        };
        ClipboardHistory: {
            history?: string[];
            count?: number;
        };
        Screenshot: {
            image?: string;
            /** @example png */
            format?: string;
            width?: number;
            height?: number;
            /** @description Bytes. */
            size?: number;
            /** Format: date-time */
            timestamp?: string;
        };
        ScreenRegion: {
            x: components["schemas"]["ScreenPosition"];
            y: components["schemas"]["ScreenPosition"];
            width: number;
            height: number;
        };
        RecordingStartRequest: {
            output_file?: string;
            /** @default 10 */
            fps?: number;
            /**
             * @default mp4
             * @enum {string}
             */
            format?: "mp4" | "webm";
            /**
             * @default medium
             * @enum {string}
             */
            quality?: "low" | "medium" | "high";
        };
        RecordingStopRequest: {
            recording_id?: string;
        };
        Recording: {
            recording_id?: string;
            /**
             * @example recording
             * @example stopped
             * @example failed
             */
            status?: string;
            /** @description Why it failed. */
            error?: string;
            /** @description Seconds. */
            duration?: number;
            /** @description Bytes. */
            file_size?: number;
            format?: string;
            output_file?: string;
        };
        DesktopWindow: {
            id?: string;
            title?: string;
            x?: number;
            y?: number;
            width?: number;
            height?: number;
            focused?: boolean;
            /** @description The same as `focused`. */
            is_active?: boolean;
            is_minimized?: boolean;
            /** @description The workspace it is on, from 0; -1 on all. */
            desktop?: number;
            /** @description What the program says. */
            pid?: number;
        };
        WindowList: {
            windows?: components["schemas"]["DesktopWindow"][];
            count?: number;
        };
        /** @description The window's id, in decimal or, with 0x, in hexadecimal. HOPX's clients send an integer. */
        WindowId: string | number;
        WindowRequest: {
            window_id: components["schemas"]["WindowId"];
        };
        WindowResizeRequest: {
            window_id: components["schemas"]["WindowId"];
            width: number;
            height: number;
        };
        Display: {
            display?: number | string;
            width?: number;
            height?: number;
            /** @description Bits per pixel. */
            depth?: number;
        };
        Resolution: {
            width: number;
            height: number;
        };
        ResolutionList: {
            /** @description Objects, or `[width, height]` pairs from some servers. */
            resolutions?: (components["schemas"]["Resolution"] | number[])[];
        };
        ResolutionRequest: {
            width: number;
            height: number;
        };
        OcrRequest: {
            x: components["schemas"]["ScreenPosition"];
            y: components["schemas"]["ScreenPosition"];
            width: number;
            height: number;
            /**
             * @description Name that Tesseract has for it; several are joined by `+`.
             * @default eng
             */
            language?: string;
        };
        OcrResponse: {
            text?: string;
            confidence?: number;
        };
        DragDropRequest: {
            from_x: components["schemas"]["ScreenPosition"];
            from_y: components["schemas"]["ScreenPosition"];
            to_x: components["schemas"]["ScreenPosition"];
            to_y: components["schemas"]["ScreenPosition"];
        };
        FindElementRequest: {
            text: string;
        };
        WaitForElementRequest: {
            text: string;
            /**
             * @description Seconds.
             * @default 30
             */
            timeout?: number;
        };
        FoundElement: {
            found?: boolean;
            element?: components["schemas"]["ElementBounds"] | null;
        };
        /** @description The bounds in both forms that clients read. */
        BoundsOfElement: components["schemas"]["FoundElement"] & components["schemas"]["ElementBounds"];
        ElementBounds: {
            text?: string;
            x?: number;
            y?: number;
            width?: number;
            height?: number;
        };
        DesktopLogs: {
            logs?: string[];
        };
        BrowserStartRequest: {
            /** @description Page to open. A blank one when absent. */
            url?: string;
            /**
             * @description Seconds until the address expires. Connections that are open then are closed.
             * @default 3600
             */
            expires_in?: number;
        };
        BrowserStatus: {
            /** @description Address of the DevTools protocol (ws), with a token. Whoever has it controls the browser. */
            url: string;
            /** @description Port in the sandbox that serves it. */
            port: number;
            /** Format: date-time */
            expires_at: string;
        };
        DesktopProcesses: {
            processes?: components["schemas"]["SystemProcess"][];
        };
        UpdateUploadForm: {
            /** Format: binary */
            file: Blob | Uint8Array;
            version?: string;
        };
        UpdateResponse: {
            success?: boolean;
            status?: string;
            message?: string;
            version?: string;
        };
        UpdateBackup: {
            name?: string;
            version?: string;
            /** @description Bytes. */
            size?: number;
            /** Format: date-time */
            created_at?: string;
        };
        UpdateBackupsResponse: {
            backups?: components["schemas"]["UpdateBackup"][];
            count?: number;
        };
    };
    responses: {
        /** @description The connection is a WebSocket now. */
        SwitchingProtocols: {
            headers: {
                [name: string]: unknown;
            };
            content?: never;
        };
        /** @description INVALID_REQUEST, INVALID_JSON, MISSING_PARAMETER, INVALID_PATH, LANGUAGE_NOT_AVAILABLE, DESKTOP_NOT_AVAILABLE or PAYLOAD_TOO_LARGE; the message names the field and the fix. */
        BadRequest: {
            headers: {
                "X-Request-ID": components["headers"]["RequestId"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["ErrorResponse"];
            };
        };
        /** @description AUTHENTICATION_REQUIRED, INVALID_TOKEN or TOKEN_EXPIRED. Get a new token from the control plane. */
        Unauthorized: {
            headers: {
                "X-Request-ID": components["headers"]["RequestId"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["ErrorResponse"];
            };
        };
        /** @description PATH_NOT_ALLOWED or PERMISSION_DENIED; FORBIDDEN when the server does not answer to the name in `Host`. */
        Forbidden: {
            headers: {
                "X-Request-ID": components["headers"]["RequestId"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["ErrorResponse"];
            };
        };
        /** @description FILE_NOT_FOUND, DIRECTORY_NOT_FOUND, PROCESS_NOT_FOUND, WINDOW_NOT_FOUND, RECORDING_NOT_FOUND or CONTEXT_NOT_FOUND; NOT_FOUND when this agent does not serve the operation; SANDBOX_NOT_FOUND when there is no such sandbox. */
        NotFound: {
            headers: {
                "X-Request-ID": components["headers"]["RequestId"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["ErrorResponse"];
            };
        };
        /** @description DESKTOP_FAILED when the desktop ended or did not answer, RECORDING_RUNNING; the message says what to do. */
        DesktopConflict: {
            headers: {
                "X-Request-ID": components["headers"]["RequestId"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["ErrorResponse"];
            };
        };
        /** @description METHOD_NOT_ALLOWED. The path takes other methods, named in `Allow`. */
        MethodNotAllowed: {
            headers: {
                "X-Request-ID": components["headers"]["RequestId"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["ErrorResponse"];
            };
        };
        /** @description INVALID_REQUEST. This is a WebSocket: connect with an upgrade. */
        UpgradeRequired: {
            headers: {
                "X-Request-ID": components["headers"]["RequestId"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["ErrorResponse"];
            };
        };
        /** @description PAYLOAD_TOO_LARGE. Address and headers are larger than the server takes, together 16 KiB. */
        HeadersTooLarge: {
            headers: {
                "X-Request-ID": components["headers"]["RequestId"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["ErrorResponse"];
            };
        };
        /** @description INVALID_REQUEST: the request did not arrive in time. EXECUTION_TIMEOUT: some servers answer so; this contract's own answer is 200 with `termination_reason` `timeout`. */
        RequestTimeout: {
            headers: {
                "X-Request-ID": components["headers"]["RequestId"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["ErrorResponse"];
            };
        };
        /** @description FILE_ALREADY_EXISTS, or something of another kind has that name; SANDBOX_PAUSED, SANDBOX_STOPPED, EXECUTION_INTERRUPTED or AGENT_UNREADABLE, when the sandbox's state allows no answer. */
        Conflict: {
            headers: {
                "X-Request-ID": components["headers"]["RequestId"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["ErrorResponse"];
            };
        };
        /** @description SANDBOX_EXPIRED. The sandbox is past its deadline; create another. */
        Gone: {
            headers: {
                "X-Request-ID": components["headers"]["RequestId"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["ErrorResponse"];
            };
        };
        /** @description PAYLOAD_TOO_LARGE, FILE_TOO_LARGE or DISK_FULL. */
        ContentTooLarge: {
            headers: {
                "X-Request-ID": components["headers"]["RequestId"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["ErrorResponse"];
            };
        };
        /** @description RESOURCE_EXHAUSTED (no execution slot, or no process left) or RATE_LIMIT_EXCEEDED. */
        TooManyRequests: {
            headers: {
                "X-Request-ID": components["headers"]["RequestId"];
                "Retry-After": components["headers"]["RetryAfter"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["ErrorResponse"];
            };
        };
        /** @description INTERNAL_ERROR. The fault is the agent's. */
        InternalError: {
            headers: {
                "X-Request-ID": components["headers"]["RequestId"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["ErrorResponse"];
            };
        };
        /** @description STORAGE_FULL. The server that would report the end cannot keep that it has to; nothing was run. Call again once there is room. */
        InsufficientStorage: {
            headers: {
                "X-Request-ID": components["headers"]["RequestId"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["ErrorResponse"];
            };
        };
        /** @description SERVICE_UNAVAILABLE. The sandbox is starting, stopped or paused. */
        Unavailable: {
            headers: {
                "X-Request-ID": components["headers"]["RequestId"];
                "Retry-After": components["headers"]["RetryAfter"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["ErrorResponse"];
            };
        };
    };
    parameters: {
        /**
         * @description A path below `/workspace` or `/tmp`. Relative paths start at `/workspace`. Names that are not UTF-8 are listed
         *     with U+FFFD in place of the bytes that are not; such a path leads to the entry that reads like it.
         */
        FilePath: string;
        /** @description The execution's `process_id` or `execution_id`. */
        ProcessId: string;
        /** @description Scales the image down until neither side is longer than this many pixels. Not scaled when absent. */
        ScreenshotEdge: number;
        /** @description Which recording; the latest when absent. */
        RecordingQuery: string;
        /** @description Which recording. */
        RecordingId: string;
        /** @description Which window; the focused one when absent. */
        WindowQuery: string;
    };
    requestBodies: never;
    headers: {
        /** @description The request's id, as in the body's `request_id`. */
        RequestId: string;
        /** @description Seconds to wait before trying again. */
        RetryAfter: number;
    };
    pathItems: never;
}
export type $defs = Record<string, never>;
export interface operations {
    getBanner: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The agent's name, version and sandbox. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Banner"];
                };
            };
            410: components["responses"]["Gone"];
            429: components["responses"]["TooManyRequests"];
            500: components["responses"]["InternalError"];
        };
    };
    ping: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The agent is reachable. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Pong"];
                };
            };
            410: components["responses"]["Gone"];
            429: components["responses"]["TooManyRequests"];
            500: components["responses"]["InternalError"];
        };
    };
    getAgentHealth: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The agent's state and what it can do. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["AgentHealth"];
                };
            };
            410: components["responses"]["Gone"];
            429: components["responses"]["TooManyRequests"];
            500: components["responses"]["InternalError"];
        };
    };
    getInfo: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Versions, platform, address and limits. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["AgentInfo"];
                };
            };
            410: components["responses"]["Gone"];
            429: components["responses"]["TooManyRequests"];
            500: components["responses"]["InternalError"];
        };
    };
    getSystem: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The operating system, the hardware and their use. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["SystemInfo"];
                };
            };
            410: components["responses"]["Gone"];
            429: components["responses"]["TooManyRequests"];
            500: components["responses"]["InternalError"];
        };
    };
    executeCode: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["ExecuteRequest"];
            };
        };
        responses: {
            /** @description The program ended; its output and exit code. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ExecuteResponse"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            408: components["responses"]["RequestTimeout"];
            410: components["responses"]["Gone"];
            413: components["responses"]["ContentTooLarge"];
            429: components["responses"]["TooManyRequests"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["Unavailable"];
        };
    };
    executeRich: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["ExecuteRichRequest"];
            };
        };
        responses: {
            /** @description The program ended; its output and what it displayed. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ExecuteRichResponse"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            408: components["responses"]["RequestTimeout"];
            410: components["responses"]["Gone"];
            413: components["responses"]["ContentTooLarge"];
            429: components["responses"]["TooManyRequests"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["Unavailable"];
        };
    };
    executeIpython: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["ExecuteIpythonRequest"];
            };
        };
        responses: {
            /** @description The cell ended; its output and last value. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ExecuteResponse"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            404: components["responses"]["NotFound"];
            408: components["responses"]["RequestTimeout"];
            410: components["responses"]["Gone"];
            413: components["responses"]["ContentTooLarge"];
            429: components["responses"]["TooManyRequests"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["Unavailable"];
        };
    };
    executeBackground: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["BackgroundExecuteRequest"];
            };
        };
        responses: {
            /** @description The execution was started. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["BackgroundExecuteResponse"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            410: components["responses"]["Gone"];
            413: components["responses"]["ContentTooLarge"];
            429: components["responses"]["TooManyRequests"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["Unavailable"];
        };
    };
    executeAsync: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["AsyncExecuteRequest"];
            };
        };
        responses: {
            /** @description The execution was accepted. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["AsyncExecuteResponse"];
                };
            };
            /** @description The same; some servers answer with this status. */
            202: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["AsyncExecuteResponse"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            410: components["responses"]["Gone"];
            413: components["responses"]["ContentTooLarge"];
            429: components["responses"]["TooManyRequests"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["Unavailable"];
            507: components["responses"]["InsufficientStorage"];
        };
    };
    listExecutions: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Running executions and the most recent finished ones. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ProcessListResponse"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            404: components["responses"]["NotFound"];
            410: components["responses"]["Gone"];
            429: components["responses"]["TooManyRequests"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["Unavailable"];
        };
    };
    getExecutionOutput: {
        parameters: {
            query?: {
                /** @description Bytes of stdout to skip. */
                stdout_offset?: number;
                /** @description Bytes of stderr to skip. */
                stderr_offset?: number;
                /** @description The most bytes of each stream in the answer. */
                limit?: number;
                /** @description Seconds to wait for the execution's end before answering. */
                wait?: number;
                /**
                 * @description Whether the answer tells what an execution in a context displayed, and its last expression's value. They are there
                 *     after its end, of the latest eight such executions.
                 */
                values?: boolean;
            };
            header?: never;
            path: {
                /** @description The execution's `process_id` or `execution_id`. */
                process_id: components["parameters"]["ProcessId"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The next piece of each stream, empty when there is nothing new. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ProcessOutputResponse"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            404: components["responses"]["NotFound"];
            410: components["responses"]["Gone"];
            429: components["responses"]["TooManyRequests"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["Unavailable"];
        };
    };
    killExecution: {
        parameters: {
            query: {
                /** @description The execution's `process_id` or `execution_id`. */
                process_id: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The execution was killed, or had already ended. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["KillResponse"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            404: components["responses"]["NotFound"];
            410: components["responses"]["Gone"];
            429: components["responses"]["TooManyRequests"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["Unavailable"];
        };
    };
    killExecutionById: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The execution's `process_id` or `execution_id`. */
                process_id: components["parameters"]["ProcessId"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The execution was killed, or had already ended. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["KillResponse"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            404: components["responses"]["NotFound"];
            410: components["responses"]["Gone"];
            429: components["responses"]["TooManyRequests"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["Unavailable"];
        };
    };
    killProcess: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The execution's `process_id` or `execution_id`. */
                process_id: components["parameters"]["ProcessId"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The execution was killed, or had already ended. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["KillResponse"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            404: components["responses"]["NotFound"];
            410: components["responses"]["Gone"];
            429: components["responses"]["TooManyRequests"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["Unavailable"];
        };
    };
    streamExecution: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            101: components["responses"]["SwitchingProtocols"];
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            404: components["responses"]["NotFound"];
            410: components["responses"]["Gone"];
            426: components["responses"]["UpgradeRequired"];
            429: components["responses"]["TooManyRequests"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["Unavailable"];
        };
    };
    streamCode: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            101: components["responses"]["SwitchingProtocols"];
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            404: components["responses"]["NotFound"];
            410: components["responses"]["Gone"];
            426: components["responses"]["UpgradeRequired"];
            429: components["responses"]["TooManyRequests"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["Unavailable"];
        };
    };
    streamIpython: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            101: components["responses"]["SwitchingProtocols"];
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            404: components["responses"]["NotFound"];
            410: components["responses"]["Gone"];
            426: components["responses"]["UpgradeRequired"];
            429: components["responses"]["TooManyRequests"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["Unavailable"];
        };
    };
    runCommand: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["CommandRequest"];
            };
        };
        responses: {
            /** @description The command ended; its output and exit code. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["CommandResponse"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            408: components["responses"]["RequestTimeout"];
            410: components["responses"]["Gone"];
            413: components["responses"]["ContentTooLarge"];
            429: components["responses"]["TooManyRequests"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["Unavailable"];
        };
    };
    runCommandBackground: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["BackgroundCommandRequest"];
            };
        };
        responses: {
            /** @description The command was started. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["BackgroundCommandResponse"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            410: components["responses"]["Gone"];
            413: components["responses"]["ContentTooLarge"];
            429: components["responses"]["TooManyRequests"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["Unavailable"];
        };
    };
    streamCommand: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            101: components["responses"]["SwitchingProtocols"];
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            404: components["responses"]["NotFound"];
            410: components["responses"]["Gone"];
            426: components["responses"]["UpgradeRequired"];
            429: components["responses"]["TooManyRequests"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["Unavailable"];
        };
    };
    readFile: {
        parameters: {
            query: {
                /**
                 * @description A path below `/workspace` or `/tmp`. Relative paths start at `/workspace`. Names that are not UTF-8 are listed
                 *     with U+FFFD in place of the bytes that are not; such a path leads to the entry that reads like it.
                 */
                path: components["parameters"]["FilePath"];
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The file's text. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["FileContentResponse"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            410: components["responses"]["Gone"];
            413: components["responses"]["ContentTooLarge"];
            429: components["responses"]["TooManyRequests"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["Unavailable"];
        };
    };
    writeFile: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["FileWriteRequest"];
            };
        };
        responses: {
            /** @description The file was written. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["FileResponse"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            409: components["responses"]["Conflict"];
            410: components["responses"]["Gone"];
            413: components["responses"]["ContentTooLarge"];
            429: components["responses"]["TooManyRequests"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["Unavailable"];
        };
    };
    listFiles: {
        parameters: {
            query?: {
                /** @description The directory. Relative paths start at `/workspace`. */
                path?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The directory's entries. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["FileListResponse"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            410: components["responses"]["Gone"];
            429: components["responses"]["TooManyRequests"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["Unavailable"];
        };
    };
    fileExists: {
        parameters: {
            query: {
                /**
                 * @description A path below `/workspace` or `/tmp`. Relative paths start at `/workspace`. Names that are not UTF-8 are listed
                 *     with U+FFFD in place of the bytes that are not; such a path leads to the entry that reads like it.
                 */
                path: components["parameters"]["FilePath"];
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Whether it exists. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["FileExistsResponse"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            410: components["responses"]["Gone"];
            429: components["responses"]["TooManyRequests"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["Unavailable"];
        };
    };
    removeFile: {
        parameters: {
            query: {
                /**
                 * @description A path below `/workspace` or `/tmp`. Relative paths start at `/workspace`. Names that are not UTF-8 are listed
                 *     with U+FFFD in place of the bytes that are not; such a path leads to the entry that reads like it.
                 */
                path: components["parameters"]["FilePath"];
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description It is gone. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["FileResponse"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            410: components["responses"]["Gone"];
            429: components["responses"]["TooManyRequests"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["Unavailable"];
        };
    };
    makeDirectory: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["MakeDirectoryRequest"];
            };
        };
        responses: {
            /** @description The directory exists. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["FileResponse"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            409: components["responses"]["Conflict"];
            410: components["responses"]["Gone"];
            413: components["responses"]["ContentTooLarge"];
            429: components["responses"]["TooManyRequests"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["Unavailable"];
        };
    };
    renameFile: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["FileRenameRequest"];
            };
        };
        responses: {
            /** @description It has its new path, which the answer carries. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["FileResponse"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            409: components["responses"]["Conflict"];
            410: components["responses"]["Gone"];
            413: components["responses"]["ContentTooLarge"];
            429: components["responses"]["TooManyRequests"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["Unavailable"];
        };
    };
    statFile: {
        parameters: {
            query: {
                /**
                 * @description A path below `/workspace` or `/tmp`. Relative paths start at `/workspace`. Names that are not UTF-8 are listed
                 *     with U+FFFD in place of the bytes that are not; such a path leads to the entry that reads like it.
                 */
                path: components["parameters"]["FilePath"];
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The entry. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["FileInfo"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            410: components["responses"]["Gone"];
            429: components["responses"]["TooManyRequests"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["Unavailable"];
        };
    };
    uploadFile: {
        parameters: {
            query?: {
                /** @description The destination; wins over the form's `path` part. */
                path?: string;
                /** @description Permissions in octal. Default: those of the file that is replaced, `0644` for a new one. */
                mode?: string;
                /** @description `false` refuses to replace an existing file or link: 409 FILE_ALREADY_EXISTS. */
                overwrite?: boolean;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "multipart/form-data": components["schemas"]["FileUploadForm"];
                "application/octet-stream": (Blob | Uint8Array) | ReadableStream<Uint8Array>;
            };
        };
        responses: {
            /** @description The file was stored. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["FileResponse"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            409: components["responses"]["Conflict"];
            410: components["responses"]["Gone"];
            413: components["responses"]["ContentTooLarge"];
            429: components["responses"]["TooManyRequests"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["Unavailable"];
        };
    };
    downloadFile: {
        parameters: {
            query: {
                /**
                 * @description A path below `/workspace` or `/tmp`. Relative paths start at `/workspace`. Names that are not UTF-8 are listed
                 *     with U+FFFD in place of the bytes that are not; such a path leads to the entry that reads like it.
                 */
                path: components["parameters"]["FilePath"];
            };
            header?: {
                /** @description Which bytes, `bytes=first-last`; either number may be left out. */
                Range?: string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The file, unchanged, with `Content-Length` and a `Content-Disposition` that carries its name. */
            200: {
                headers: {
                    /** @description `attachment` with the file's name. */
                    "Content-Disposition"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/octet-stream": Blob;
                };
            };
            /** @description The bytes asked for; `Content-Range` says which of how many. */
            206: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/octet-stream": Blob;
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            410: components["responses"]["Gone"];
            /** @description INVALID_REQUEST. The file has no such bytes; `Content-Range` tells its size. */
            416: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorResponse"];
                };
            };
            429: components["responses"]["TooManyRequests"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["Unavailable"];
        };
    };
    watchFiles: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            101: components["responses"]["SwitchingProtocols"];
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            410: components["responses"]["Gone"];
            426: components["responses"]["UpgradeRequired"];
            429: components["responses"]["TooManyRequests"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["Unavailable"];
        };
    };
    getEnvironment: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The sandbox's variables. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["EnvVarsResponse"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            404: components["responses"]["NotFound"];
            410: components["responses"]["Gone"];
            429: components["responses"]["TooManyRequests"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["Unavailable"];
        };
    };
    replaceEnvironment: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["EnvVarsSetRequest"];
            };
        };
        responses: {
            /** @description The variables as they are now. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["EnvVarsResponse"];
                };
            };
            /** @description Done; some servers answer without a body. */
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            404: components["responses"]["NotFound"];
            410: components["responses"]["Gone"];
            413: components["responses"]["ContentTooLarge"];
            429: components["responses"]["TooManyRequests"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["Unavailable"];
        };
    };
    clearEnvironment: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description None are left. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["EnvVarsResponse"];
                };
            };
            /** @description Done; some servers answer without a body. */
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            404: components["responses"]["NotFound"];
            410: components["responses"]["Gone"];
            429: components["responses"]["TooManyRequests"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["Unavailable"];
        };
    };
    mergeEnvironment: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["EnvVarsSetRequest"];
            };
        };
        responses: {
            /** @description The variables as they are now. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["EnvVarsResponse"];
                };
            };
            /** @description Done; some servers answer without a body. */
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            404: components["responses"]["NotFound"];
            410: components["responses"]["Gone"];
            413: components["responses"]["ContentTooLarge"];
            429: components["responses"]["TooManyRequests"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["Unavailable"];
        };
    };
    deleteEnvironmentVariable: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The variable's name. */
                key: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The variables that are left. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["EnvVarsResponse"];
                };
            };
            /** @description Done; some servers answer without a body. */
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            404: components["responses"]["NotFound"];
            410: components["responses"]["Gone"];
            429: components["responses"]["TooManyRequests"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["Unavailable"];
        };
    };
    listSystemProcesses: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Every process, the agent included. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["SystemProcessListResponse"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            404: components["responses"]["NotFound"];
            410: components["responses"]["Gone"];
            429: components["responses"]["TooManyRequests"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["Unavailable"];
        };
    };
    getMetrics: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The agent's counters since its start, and measured use. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["MetricsSnapshot"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            404: components["responses"]["NotFound"];
            410: components["responses"]["Gone"];
            429: components["responses"]["TooManyRequests"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["Unavailable"];
        };
    };
    getMetricsSnapshot: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The agent's counters since its start, and measured use. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["MetricsSnapshot"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            404: components["responses"]["NotFound"];
            410: components["responses"]["Gone"];
            429: components["responses"]["TooManyRequests"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["Unavailable"];
        };
    };
    getPrometheusMetrics: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Series named `hopx_agent_*`. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "text/plain": string;
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            404: components["responses"]["NotFound"];
            410: components["responses"]["Gone"];
            429: components["responses"]["TooManyRequests"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["Unavailable"];
        };
    };
    getCacheStats: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Size, limit and hits. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["CacheStatsResponse"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            404: components["responses"]["NotFound"];
            410: components["responses"]["Gone"];
            429: components["responses"]["TooManyRequests"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["Unavailable"];
        };
    };
    clearCache: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The cache is empty. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["CacheClearResponse"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            404: components["responses"]["NotFound"];
            410: components["responses"]["Gone"];
            429: components["responses"]["TooManyRequests"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["Unavailable"];
        };
    };
    listJupyterSessions: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The sessions that keep state. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["JupyterSessionsResponse"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            404: components["responses"]["NotFound"];
            410: components["responses"]["Gone"];
            429: components["responses"]["TooManyRequests"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["Unavailable"];
        };
    };
    deleteJupyterSession: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The `kernel_id` of a session. */
                kernel_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The session as it was. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["JupyterSession"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            404: components["responses"]["NotFound"];
            410: components["responses"]["Gone"];
            429: components["responses"]["TooManyRequests"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["Unavailable"];
        };
    };
    restartJupyterSession: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The `kernel_id` of a session. */
                kernel_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The session, with another interpreter. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["JupyterSession"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            404: components["responses"]["NotFound"];
            410: components["responses"]["Gone"];
            429: components["responses"]["TooManyRequests"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["Unavailable"];
        };
    };
    openTerminal: {
        parameters: {
            query?: {
                /** @description Columns of the terminal at its start. */
                cols?: number;
                /** @description Rows of the terminal at its start. */
                rows?: number;
                /** @description The program to run, by name or path; bash when absent, or sh where there is no bash. */
                shell?: string;
                /**
                 * @description Name of a terminal that outlives its connection, chosen by the client: random, so that nobody guesses it. Attaches
                 *     to the terminal of that name if there is one, else opens it.
                 */
                session?: string;
                /**
                 * @description With `session`: the `position` of the last output that the client has. Attaches to a terminal that is there and
                 *     continues after it; refused with 404 when the terminal has ended.
                 */
                received?: number;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            101: components["responses"]["SwitchingProtocols"];
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            404: components["responses"]["NotFound"];
            410: components["responses"]["Gone"];
            426: components["responses"]["UpgradeRequired"];
            429: components["responses"]["TooManyRequests"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["Unavailable"];
        };
    };
    startVncByGet: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The server's state. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["VncStatus"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            404: components["responses"]["NotFound"];
            409: components["responses"]["DesktopConflict"];
            410: components["responses"]["Gone"];
            429: components["responses"]["TooManyRequests"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["Unavailable"];
        };
    };
    startVnc: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": components["schemas"]["VncStartRequest"];
            };
        };
        responses: {
            /** @description The server's state. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["VncStatus"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            404: components["responses"]["NotFound"];
            409: components["responses"]["DesktopConflict"];
            410: components["responses"]["Gone"];
            429: components["responses"]["TooManyRequests"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["Unavailable"];
        };
    };
    stopVncByGet: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The server's state. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["VncStatus"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            404: components["responses"]["NotFound"];
            409: components["responses"]["DesktopConflict"];
            410: components["responses"]["Gone"];
            429: components["responses"]["TooManyRequests"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["Unavailable"];
        };
    };
    stopVnc: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The server's state. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["VncStatus"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            404: components["responses"]["NotFound"];
            409: components["responses"]["DesktopConflict"];
            410: components["responses"]["Gone"];
            429: components["responses"]["TooManyRequests"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["Unavailable"];
        };
    };
    getVncStatus: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The server's state. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["VncStatus"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            404: components["responses"]["NotFound"];
            409: components["responses"]["DesktopConflict"];
            410: components["responses"]["Gone"];
            429: components["responses"]["TooManyRequests"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["Unavailable"];
        };
    };
    getVncInfo: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The server's state. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["VncStatus"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            404: components["responses"]["NotFound"];
            409: components["responses"]["DesktopConflict"];
            410: components["responses"]["Gone"];
            429: components["responses"]["TooManyRequests"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["Unavailable"];
        };
    };
    clickMouse: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["MouseClickRequest"];
            };
        };
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["DesktopActionResponse"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            404: components["responses"]["NotFound"];
            409: components["responses"]["DesktopConflict"];
            410: components["responses"]["Gone"];
            429: components["responses"]["TooManyRequests"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["Unavailable"];
        };
    };
    moveMouse: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["MouseMoveRequest"];
            };
        };
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["DesktopActionResponse"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            404: components["responses"]["NotFound"];
            409: components["responses"]["DesktopConflict"];
            410: components["responses"]["Gone"];
            429: components["responses"]["TooManyRequests"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["Unavailable"];
        };
    };
    dragMouse: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["MouseDragRequest"];
            };
        };
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["DesktopActionResponse"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            404: components["responses"]["NotFound"];
            409: components["responses"]["DesktopConflict"];
            410: components["responses"]["Gone"];
            429: components["responses"]["TooManyRequests"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["Unavailable"];
        };
    };
    scrollMouse: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["MouseScrollRequest"];
            };
        };
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["DesktopActionResponse"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            404: components["responses"]["NotFound"];
            409: components["responses"]["DesktopConflict"];
            410: components["responses"]["Gone"];
            429: components["responses"]["TooManyRequests"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["Unavailable"];
        };
    };
    typeText: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["KeyboardTypeRequest"];
            };
        };
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["DesktopActionResponse"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            404: components["responses"]["NotFound"];
            409: components["responses"]["DesktopConflict"];
            410: components["responses"]["Gone"];
            429: components["responses"]["TooManyRequests"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["Unavailable"];
        };
    };
    pressKey: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["KeyboardPressRequest"];
            };
        };
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["DesktopActionResponse"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            404: components["responses"]["NotFound"];
            409: components["responses"]["DesktopConflict"];
            410: components["responses"]["Gone"];
            429: components["responses"]["TooManyRequests"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["Unavailable"];
        };
    };
    pressKeyCombination: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["KeyboardCombinationRequest"];
            };
        };
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["DesktopActionResponse"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            404: components["responses"]["NotFound"];
            409: components["responses"]["DesktopConflict"];
            410: components["responses"]["Gone"];
            429: components["responses"]["TooManyRequests"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["Unavailable"];
        };
    };
    getClipboard: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description What was asked for. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Clipboard"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            404: components["responses"]["NotFound"];
            409: components["responses"]["DesktopConflict"];
            410: components["responses"]["Gone"];
            429: components["responses"]["TooManyRequests"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["Unavailable"];
        };
    };
    setClipboard: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["ClipboardSetRequest"];
            };
        };
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["DesktopActionResponse"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            404: components["responses"]["NotFound"];
            409: components["responses"]["DesktopConflict"];
            410: components["responses"]["Gone"];
            429: components["responses"]["TooManyRequests"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["Unavailable"];
        };
    };
    getClipboardHistory: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description What was asked for. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ClipboardHistory"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            404: components["responses"]["NotFound"];
            409: components["responses"]["DesktopConflict"];
            410: components["responses"]["Gone"];
            429: components["responses"]["TooManyRequests"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["Unavailable"];
        };
    };
    takeScreenshotByGet: {
        parameters: {
            query?: {
                /** @description Scales the image down until neither side is longer than this many pixels. Not scaled when absent. */
                max_edge?: components["parameters"]["ScreenshotEdge"];
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The image as its bytes, or as JSON for a caller whose `Accept` names JSON. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Screenshot"];
                    "image/png": Blob;
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            404: components["responses"]["NotFound"];
            409: components["responses"]["DesktopConflict"];
            410: components["responses"]["Gone"];
            429: components["responses"]["TooManyRequests"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["Unavailable"];
        };
    };
    takeScreenshot: {
        parameters: {
            query?: {
                /** @description Scales the image down until neither side is longer than this many pixels. Not scaled when absent. */
                max_edge?: components["parameters"]["ScreenshotEdge"];
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The image as its bytes, or as JSON for a caller whose `Accept` names JSON. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Screenshot"];
                    "image/png": Blob;
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            404: components["responses"]["NotFound"];
            409: components["responses"]["DesktopConflict"];
            410: components["responses"]["Gone"];
            429: components["responses"]["TooManyRequests"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["Unavailable"];
        };
    };
    takeRegionScreenshot: {
        parameters: {
            query?: {
                /** @description Scales the image down until neither side is longer than this many pixels. Not scaled when absent. */
                max_edge?: components["parameters"]["ScreenshotEdge"];
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["ScreenRegion"];
            };
        };
        responses: {
            /** @description The image as its bytes. Other servers send JSON. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Screenshot"];
                    "image/png": Blob;
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            404: components["responses"]["NotFound"];
            409: components["responses"]["DesktopConflict"];
            410: components["responses"]["Gone"];
            429: components["responses"]["TooManyRequests"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["Unavailable"];
        };
    };
    startRecording: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": components["schemas"]["RecordingStartRequest"];
            };
        };
        responses: {
            /** @description The recording's state. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Recording"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            404: components["responses"]["NotFound"];
            409: components["responses"]["DesktopConflict"];
            410: components["responses"]["Gone"];
            429: components["responses"]["TooManyRequests"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["Unavailable"];
        };
    };
    stopRecording: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": components["schemas"]["RecordingStopRequest"];
            };
        };
        responses: {
            /** @description The recording's state. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Recording"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            404: components["responses"]["NotFound"];
            409: components["responses"]["DesktopConflict"];
            410: components["responses"]["Gone"];
            429: components["responses"]["TooManyRequests"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["Unavailable"];
        };
    };
    getRecordingStatus: {
        parameters: {
            query?: {
                /** @description Which recording; the latest when absent. */
                id?: components["parameters"]["RecordingQuery"];
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The recording's state. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Recording"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            404: components["responses"]["NotFound"];
            409: components["responses"]["DesktopConflict"];
            410: components["responses"]["Gone"];
            429: components["responses"]["TooManyRequests"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["Unavailable"];
        };
    };
    downloadRecording: {
        parameters: {
            query?: {
                /** @description Which recording; the latest when absent. */
                id?: components["parameters"]["RecordingQuery"];
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The recording. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "video/mp4": Blob;
                    "video/webm": Blob;
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            404: components["responses"]["NotFound"];
            409: components["responses"]["DesktopConflict"];
            410: components["responses"]["Gone"];
            429: components["responses"]["TooManyRequests"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["Unavailable"];
        };
    };
    downloadRecordingById: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description Which recording. */
                recording_id: components["parameters"]["RecordingId"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The recording. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "video/mp4": Blob;
                    "video/webm": Blob;
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            404: components["responses"]["NotFound"];
            409: components["responses"]["DesktopConflict"];
            410: components["responses"]["Gone"];
            429: components["responses"]["TooManyRequests"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["Unavailable"];
        };
    };
    listWindows: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The windows. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["WindowList"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            404: components["responses"]["NotFound"];
            409: components["responses"]["DesktopConflict"];
            410: components["responses"]["Gone"];
            429: components["responses"]["TooManyRequests"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["Unavailable"];
        };
    };
    listWindowsShort: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The windows. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["WindowList"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            404: components["responses"]["NotFound"];
            409: components["responses"]["DesktopConflict"];
            410: components["responses"]["Gone"];
            429: components["responses"]["TooManyRequests"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["Unavailable"];
        };
    };
    focusWindow: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["WindowRequest"];
            };
        };
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["DesktopActionResponse"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            404: components["responses"]["NotFound"];
            409: components["responses"]["DesktopConflict"];
            410: components["responses"]["Gone"];
            429: components["responses"]["TooManyRequests"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["Unavailable"];
        };
    };
    closeWindow: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["WindowRequest"];
            };
        };
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["DesktopActionResponse"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            404: components["responses"]["NotFound"];
            409: components["responses"]["DesktopConflict"];
            410: components["responses"]["Gone"];
            429: components["responses"]["TooManyRequests"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["Unavailable"];
        };
    };
    resizeWindow: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["WindowResizeRequest"];
            };
        };
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["DesktopActionResponse"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            404: components["responses"]["NotFound"];
            409: components["responses"]["DesktopConflict"];
            410: components["responses"]["Gone"];
            429: components["responses"]["TooManyRequests"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["Unavailable"];
        };
    };
    minimizeWindow: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["WindowRequest"];
            };
        };
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["DesktopActionResponse"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            404: components["responses"]["NotFound"];
            409: components["responses"]["DesktopConflict"];
            410: components["responses"]["Gone"];
            429: components["responses"]["TooManyRequests"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["Unavailable"];
        };
    };
    getDisplay: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The display. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Display"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            404: components["responses"]["NotFound"];
            409: components["responses"]["DesktopConflict"];
            410: components["responses"]["Gone"];
            429: components["responses"]["TooManyRequests"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["Unavailable"];
        };
    };
    getDisplayInfo: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The display. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Display"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            404: components["responses"]["NotFound"];
            409: components["responses"]["DesktopConflict"];
            410: components["responses"]["Gone"];
            429: components["responses"]["TooManyRequests"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["Unavailable"];
        };
    };
    getDisplayShort: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The display. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Display"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            404: components["responses"]["NotFound"];
            409: components["responses"]["DesktopConflict"];
            410: components["responses"]["Gone"];
            429: components["responses"]["TooManyRequests"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["Unavailable"];
        };
    };
    listResolutions: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The resolutions. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ResolutionList"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            404: components["responses"]["NotFound"];
            409: components["responses"]["DesktopConflict"];
            410: components["responses"]["Gone"];
            429: components["responses"]["TooManyRequests"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["Unavailable"];
        };
    };
    listResolutionsAlias: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The resolutions. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ResolutionList"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            404: components["responses"]["NotFound"];
            409: components["responses"]["DesktopConflict"];
            410: components["responses"]["Gone"];
            429: components["responses"]["TooManyRequests"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["Unavailable"];
        };
    };
    setResolution: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["ResolutionRequest"];
            };
        };
        responses: {
            /** @description The display. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Display"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            404: components["responses"]["NotFound"];
            409: components["responses"]["DesktopConflict"];
            410: components["responses"]["Gone"];
            429: components["responses"]["TooManyRequests"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["Unavailable"];
        };
    };
    setResolutionAlias: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["ResolutionRequest"];
            };
        };
        responses: {
            /** @description The display. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Display"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            404: components["responses"]["NotFound"];
            409: components["responses"]["DesktopConflict"];
            410: components["responses"]["Gone"];
            429: components["responses"]["TooManyRequests"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["Unavailable"];
        };
    };
    recogniseText: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["OcrRequest"];
            };
        };
        responses: {
            /** @description What was asked for. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["OcrResponse"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            404: components["responses"]["NotFound"];
            409: components["responses"]["DesktopConflict"];
            410: components["responses"]["Gone"];
            429: components["responses"]["TooManyRequests"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["Unavailable"];
        };
    };
    pressHotkey: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["HotkeyRequest"];
            };
        };
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["DesktopActionResponse"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            404: components["responses"]["NotFound"];
            409: components["responses"]["DesktopConflict"];
            410: components["responses"]["Gone"];
            429: components["responses"]["TooManyRequests"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["Unavailable"];
        };
    };
    dragAndDrop: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["DragDropRequest"];
            };
        };
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["DesktopActionResponse"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            404: components["responses"]["NotFound"];
            409: components["responses"]["DesktopConflict"];
            410: components["responses"]["Gone"];
            429: components["responses"]["TooManyRequests"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["Unavailable"];
        };
    };
    dragAndDropAlias: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["DragDropRequest"];
            };
        };
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["DesktopActionResponse"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            404: components["responses"]["NotFound"];
            409: components["responses"]["DesktopConflict"];
            410: components["responses"]["Gone"];
            429: components["responses"]["TooManyRequests"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["Unavailable"];
        };
    };
    findElement: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["FindElementRequest"];
            };
        };
        responses: {
            /** @description What was found, and where. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["FoundElement"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            404: components["responses"]["NotFound"];
            409: components["responses"]["DesktopConflict"];
            410: components["responses"]["Gone"];
            429: components["responses"]["TooManyRequests"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["Unavailable"];
        };
    };
    waitForElement: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["WaitForElementRequest"];
            };
        };
        responses: {
            /** @description What was found, and where. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["FoundElement"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            404: components["responses"]["NotFound"];
            409: components["responses"]["DesktopConflict"];
            410: components["responses"]["Gone"];
            429: components["responses"]["TooManyRequests"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["Unavailable"];
        };
    };
    getElementBounds: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["FindElementRequest"];
            };
        };
        responses: {
            /** @description What was found, and where. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["BoundsOfElement"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            404: components["responses"]["NotFound"];
            409: components["responses"]["DesktopConflict"];
            410: components["responses"]["Gone"];
            429: components["responses"]["TooManyRequests"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["Unavailable"];
        };
    };
    captureWindow: {
        parameters: {
            query?: {
                /** @description Which window; the focused one when absent. */
                window_id?: components["parameters"]["WindowQuery"];
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The image as its bytes. Other servers send JSON. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Screenshot"];
                    "image/png": Blob;
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            404: components["responses"]["NotFound"];
            409: components["responses"]["DesktopConflict"];
            410: components["responses"]["Gone"];
            429: components["responses"]["TooManyRequests"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["Unavailable"];
        };
    };
    startBrowser: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": components["schemas"]["BrowserStartRequest"];
            };
        };
        responses: {
            /** @description How to reach the browser. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["BrowserStatus"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            404: components["responses"]["NotFound"];
            409: components["responses"]["DesktopConflict"];
            410: components["responses"]["Gone"];
            429: components["responses"]["TooManyRequests"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["Unavailable"];
        };
    };
    getDesktopLogs: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description What was asked for. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["DesktopLogs"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            404: components["responses"]["NotFound"];
            409: components["responses"]["DesktopConflict"];
            410: components["responses"]["Gone"];
            429: components["responses"]["TooManyRequests"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["Unavailable"];
        };
    };
    listDesktopProcesses: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description What was asked for. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["DesktopProcesses"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            404: components["responses"]["NotFound"];
            409: components["responses"]["DesktopConflict"];
            410: components["responses"]["Gone"];
            429: components["responses"]["TooManyRequests"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["Unavailable"];
        };
    };
    uploadUpdate: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: {
            content: {
                "multipart/form-data": components["schemas"]["UpdateUploadForm"];
            };
        };
        responses: {
            /** @description The new agent is stored, not yet in use. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["UpdateResponse"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            410: components["responses"]["Gone"];
            413: components["responses"]["ContentTooLarge"];
            429: components["responses"]["TooManyRequests"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["Unavailable"];
        };
    };
    applyUpdate: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The uploaded agent starts at the next restart. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["UpdateResponse"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            410: components["responses"]["Gone"];
            429: components["responses"]["TooManyRequests"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["Unavailable"];
        };
    };
    restartAgent: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The agent restarts. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["UpdateResponse"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            410: components["responses"]["Gone"];
            429: components["responses"]["TooManyRequests"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["Unavailable"];
        };
    };
    listUpdateBackups: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The agents one can go back to. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["UpdateBackupsResponse"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            410: components["responses"]["Gone"];
            429: components["responses"]["TooManyRequests"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["Unavailable"];
        };
    };
}
