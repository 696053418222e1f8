# cimento with its demo models and starter suites. Once it is built, the demo needs no network:
#
#   docker build -t cimento .
#   docker run --name demo --network none cimento
#   docker cp demo:/home/cimento/cimento-demo .
#
# The page is then cimento-demo/report.html. Any other command: docker run --rm cimento suites list
FROM python:3.13-slim

WORKDIR /opt/cimento
COPY pyproject.toml README.md LICENSE LICENSE-CC-BY-4.0 constraints.txt locked.txt ./
COPY src ./src
RUN python -m pip install --no-cache-dir --no-deps --require-hashes --requirement locked.txt
# cimento itself, and what constraints.txt does not name: the NVIDIA libraries of torch on x86_64.
RUN python -m pip install --no-cache-dir --no-build-isolation --constraint constraints.txt '.[hf]'

RUN useradd --create-home cimento
USER cimento
WORKDIR /home/cimento
ENV HF_HUB_OFFLINE=1

ENTRYPOINT ["cimento"]
CMD ["demo"]
