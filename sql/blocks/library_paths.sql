-- block: library_paths
-- since: 0.1
-- summary: Path patterns of library code: packages, the standard library and generated code.
--
-- A pattern is searched for in the path with '/' between folders, as on Linux, also for traces from Windows.
--
-- columns
--   name     type     unit  meaning
--   pattern  VARCHAR  key   Regular expression.
--   seen     VARCHAR  -     Library path that it matches.
--   not_of   VARCHAR  -     Similar path of a user.
CREATE MACRO library_paths() AS TABLE
    SELECT
        t.pattern,
        t.seen,
        t.not_of
    FROM (
        VALUES
        -- pip, conda, Debian, a venv on any system; eggs and wheels that are zip files.
        (
            '(^|/)(site|dist)-packages/',
            'C:\proj\.venv\Lib\site-packages\torch\nn\modules\linear.py',
            '/home/ann/packages/train.py'
        ),
        (
            '\.(egg|whl|pex|zip)/',
            '/opt/app/deps.zip/yaml/loader.py',
            '/home/ann/unzip/train.py'
        ),
        -- The standard library, of a system, conda, pyenv or uv.
        (
            '(^|/)lib(32|64)?/(python|pypy)\d+(\.\d+)*t?/',
            '/opt/conda/lib/python3.11/threading.py',
            '/home/ann/python3.11/train.py'
        ),
        ('^(python|pypy)\d+\.\d+t?/', 'python3.11/threading.py', 'python3/train.py'),
        (
            '(?i)^[a-z]:/(.*/)?(python[\d.-]*|[a-z]*conda\d*|envs/[^/]+)/lib/',
            'C:\Users\Ann\anaconda3\envs\ml\Lib\threading.py',
            'C:\Users\Ann\work\lib\train.py'
        ),
        -- Checkouts of PyTorch and Triton that are installed as they are.
        ('/pytorch/torch/', '/home/ann/pytorch/torch/nn/utils.py', '/home/ann/torch/train.py'),
        ('/python/triton/', '/src/python/triton/runtime/jit.py', '/home/ann/python/train.py'),
        -- Code compiled from text: frozen modules, dataclasses, torch.fx, torch.compile.
        ('^<', '<frozen importlib._bootstrap>', 'train.py'),
        (
            '(^|/)(torchinductor_[^/]*|torch_compile_debug|\.triton/cache)/',
            '/tmp/torchinductor_user/ab/cab.py',
            '/tmp/ipykernel_4711/45.py'
        )
    ) AS t (pattern, seen, not_of);
